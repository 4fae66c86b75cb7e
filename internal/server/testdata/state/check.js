// What the tests of the page's state are written with. They run in a worker, where there is
// no page; each file has a worker, and so the modules, to itself.
import { effect } from '/assets/vendor/signals-core.mjs';

const tests = [];

export const test = (name, run) => { tests.push({ name, run }); };

const show = (v) => JSON.stringify(v, (_, x) => (x === undefined ? '(undefined)' : x)) ?? '(undefined)';

// same fails unless both are the same as JSON.
export function same(got, want, what = '') {
  if (show(got) !== show(want)) throw new Error(`${what} got ${show(got)}, want ${show(want)}`);
}

export function is(yes, what) { if (!yes) throw new Error(what); }

// when resolves once a function of signals is true.
export function when(yes, what) {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`it never came: ${what}`)), 5000);
    let end = null;
    end = effect(() => { if (yes()) { clearTimeout(late); resolve(); queueMicrotask(() => end()); } });
  });
}

// serve stands in for the server: "METHOD path" without its query, and what is returned: a
// value, a Response, or a function that makes either. It returns the list of requests.
export function serve(routes) {
  const asked = [];
  globalThis.fetch = async (path, init) => {
    const at = `${init.method} ${path.split('?')[0]}`;
    const request = { at, query: path.split('?')[1] || '', body: typeof init.body === 'string' ? placed(JSON.parse(init.body)) : init.body,
      headers: init.headers, signal: init.signal };
    asked.push(request);
    if (!(at in routes)) return Response.json({ error: { code: 'not_found', message: `there is no ${at}` } }, { status: 404 });
    const out = typeof routes[at] === 'function' ? await routes[at](request) : routes[at];
    return out instanceof Response ? out : Response.json(out);
  };
  return asked;
}

export const refusal = (status, message) => Response.json({ error: { code: 'invalid', message } }, { status });

// stream is a response of numbered frames; one that is cut ends without [DONE].
export function stream(events, cut = false) {
  const lines = events.map(([id, ev]) => `id: ${id}\ndata: ${JSON.stringify(ev)}\n\n`);
  return new Response(lines.join('') + (cut ? '' : 'data: [DONE]\n\n'));
}

export const conversation = (id, fields) => ({ id, title: `The ${id}`, messages: 0, pinned_seqs: [], limit: 0, policy: '',
  instructions: '', project: 'default', ...fields });

export const message = (seq, role = 'user', text = `m${seq}`) => ({ id: `i${seq}`, seq, role, branch: 'b1',
  parts: [{ type: 'text', text }], status: 'complete' });

export const messages = (from, to) => Array.from({ length: to - from + 1 }, (_, i) => message(from + i));

export async function run() {
  const faults = [];
  for (const { name, run: body } of tests) {
    try { await body(); } catch (err) { faults.push(`${name}: ${err.stack || err}`); }
  }
  return { ran: tests.length, faults };
}

// placed is a body without the time zone, which is the browser's.
function placed(body) { if (body && typeof body === 'object') delete body.tz; return body; }
