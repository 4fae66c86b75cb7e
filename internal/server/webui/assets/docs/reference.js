// What an OpenAPI document says, as the page shows it: groups of operations, types in a
// line, fields, and a line for curl. It knows no page.

const methods = ['get', 'post', 'put', 'patch', 'delete'];

// reference reads a document that came from a server.
export function reference(doc, origin) {
  const all = [];
  for (const [path, item] of Object.entries(doc.paths)) {
    for (const method of methods) {
      if (item[method]) all.push(operation(doc, method, path, item[method], origin));
    }
  }
  const groups = (doc.tags || []).map((tag) => ({ name: tag.name, description: tag.description, operations: all.filter((o) => o.tag === tag.name) }));
  const known = new Set(groups.map((g) => g.name));
  const others = all.filter((o) => !known.has(o.tag));
  if (others.length) groups.push({ name: '…', description: '', operations: others });
  return { doc, version: doc.info.version, description: doc.info.description, groups: groups.filter((g) => g.operations.length) };
}

function operation(doc, method, path, op, origin) {
  const responses = Object.entries(op.responses || {}).map(([status, res]) => ({ status, ...deref(doc, res) }));
  const body = op.requestBody && Object.entries(op.requestBody.content)[0];
  return {
    id: op.operationId, method: method.toUpperCase(), path, tag: (op.tags || [])[0], summary: op.summary, description: op.description,
    parameters: [...(op.parameters || [])].sort((a, b) => rank(a) - rank(b)),
    body: body && { media: body[0], schema: body[1].schema, example: sample(body[1]), required: op.requestBody.required },
    returns: responses.filter((r) => r.status < '3'),
    errors: responses.filter((r) => r.status >= '3'),
    curl: curl(method, path, op, body, origin),
    example: responses.filter((r) => r.status < '3').flatMap((r) => exampleOf(r, op))[0],
    words: [op.operationId, path, op.summary, op.description, (op.tags || [])[0]].join(' ').toLowerCase(),
  };
}

const rank = (p) => ({ path: 0, query: 1, header: 2 })[p.in] ?? 3;

// sample is the usual body of a request.
const sample = (of) => of.example ?? Object.values(of.examples || {})[0]?.value;

// exampleOf is what a response looks like: a status, and JSON, frames or a text.
function exampleOf(res, op) {
  const before = Number((op.parameters || []).find((p) => p.name === 'after')?.example ?? 0);
  return Object.entries(res.content || {}).flatMap(([media, of]) => {
    if (of.example !== undefined) return [{ status: res.status, media, text: written(of.example) }];
    const events = Object.entries(of.examples || {}).sort(([a], [b]) => parseInt(a, 10) - parseInt(b, 10));
    if (!events.length) return [];
    const shown = events.length > 9 ? [...events.slice(0, 5), null, ...events.slice(-3)] : events;
    const text = shown.map((e) => (e ? `id: ${before + parseInt(e[0], 10)}\ndata: ${JSON.stringify(e[1].value)}` : '…')).join('\n\n');
    return [{ status: res.status, media, text: text + '\n\ndata: [DONE]' }];
  });
}

export const written = (v) => (typeof v === 'string' ? v : JSON.stringify(v, null, 2));

function curl(method, path, op, body, origin) {
  let url = path;
  const query = [];
  const lines = [];
  for (const p of op.parameters || []) {
    if (p.example === undefined) continue;
    const text = encodeURIComponent(p.example).replace(/%3A/g, ':');
    if (p.in === 'path') url = url.replace(`{${p.name}}`, text);
    if (p.in === 'query') query.push(`${p.name}=${text}`);
    if (p.in === 'header') lines.push(`-H '${p.name}: ${p.example}'`);
  }
  if (query.length) url += '?' + query.join('&');
  if (!/^https?:..(127\.|localhost|\[::1\])/.test(origin)) lines.unshift('-H "Authorization: Bearer $KEY"');
  if (body && body[0] === 'application/json') lines.push("-H 'Content-Type: application/json'", `-d '${JSON.stringify(sample(body[1]) ?? {}).replaceAll("'", "'\\''")}'`);
  else if (body) lines.push('--data-binary @file');
  const streams = Object.values(op.responses || {}).some((r) => r.content && r.content['text/event-stream']);
  const verb = method === 'get' || (method === 'post' && body) ? '' : ` -X ${method.toUpperCase()}`;
  return [`curl${streams ? ' -N' : ''}${verb} '${origin}${url}'`, ...lines].join(' \\\n  ');
}

// deref is what a reference names, with what stands beside it.
export function deref(doc, of) {
  if (!of || !of.$ref) return of;
  const named = of.$ref.split('/').slice(1).reduce((v, name) => v[name], doc);
  return of.description ? { ...named, description: of.description } : named;
}

const nameOf = (of) => of.$ref.split('/').pop();

// typeOf is a schema in one line, as in "Message[] | null".
export function typeOf(doc, schema) {
  if (!schema) return '';
  if (schema.$ref) return deref(doc, schema).enum ? typeOf(doc, deref(doc, schema)) : nameOf(schema);
  if (schema.enum) return schema.enum.map((v) => JSON.stringify(v)).join(' | ');
  if (schema.oneOf) return schema.oneOf.map((s) => typeOf(doc, s)).join(' | ');
  const kinds = [schema.type ?? 'any'].flat();
  return kinds.map((kind) => {
    if (kind === 'array') { const of = typeOf(doc, schema.items); return / \| /.test(of) ? `(${of})[]` : `${of}[]`; }
    if (kind === 'object' && schema.additionalProperties?.type) return `{[name]: ${typeOf(doc, schema.additionalProperties)}}`;
    return schema.format === 'binary' ? 'bytes' : kind;
  }).join(' | ');
}

// fieldsOf are the fields of an object; of a union, its forms; of a list, those of its
// items. Nothing for what a line has said.
export function fieldsOf(doc, schema) {
  const of = deref(doc, schema);
  if (!of) return [];
  if (of.properties) {
    const needed = new Set(of.required);
    return Object.entries(of.properties).map(([name, s]) => ({ name, schema: s, type: typeOf(doc, s), required: needed.has(name), description: describe(doc, s) }));
  }
  if (of.oneOf) return of.oneOf.filter((s) => fieldsOf(doc, s).length).map((s) => ({ form: true, name: formName(doc, s), schema: s, type: '', description: describe(doc, s) }));
  if (of.items) return fieldsOf(doc, of.items);
  return of.additionalProperties?.$ref ? fieldsOf(doc, of.additionalProperties) : [];
}

const describe = (doc, s) => s.description || (s.$ref && deref(doc, s).description) || '';

function formName(doc, s) {
  const kind = deref(doc, s).properties?.type?.enum;
  return kind ? `type: ${JSON.stringify(kind[0])}` : typeOf(doc, s);
}

// finds says whether an operation has all the words of a search.
export function finds(op, search) {
  return search.toLowerCase().split(/\s+/).every((w) => op.words.includes(w));
}
