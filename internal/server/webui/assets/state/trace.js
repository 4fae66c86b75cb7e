// What a model looked up in what was said before: what it searched, what it found there, and
// where the words that it searched for stand in it.
import { compacted } from './context.js';

const kinds = { context_search: 'search', context_grep: 'grep', context_read: 'read', context_tail: 'tail', context_kept: 'kept', context_list: 'list' };

export const recalls = (name) => Object.hasOwn(kinds, name || '');

function parsed(json) {
  try {
    const v = typeof json === 'string' ? JSON.parse(json) : json;
    return v && typeof v === 'object' ? v : null;
  } catch { return null; }
}

const hitOf = (h) => ({ seq: h.seq || 0, ref: h.ref || null, text: h.content || '', date: h.date || '', conversation: h.conversation_id || null });
const matchOf = (m) => ({ seq: m.seq || 0, ref: m.ref || null, line: m.line, text: (m.content || '').trim(), date: '', conversation: null });
const named = new RegExp('^(?:history|artifact):\\S+');
const keptOf = (k) => ({ seq: k.seq, ref: null, text: k.text, date: '', conversation: null });
const refOf = (r) => ({ seq: 0, ref: (named.exec(r) || [''])[0], text: String(r).replace(named, '').trim(), date: '', conversation: null });

// traceOf is what a call of a recall tool searched and found; result is undefined until it is
// there. hits is null where the result is not one that can be shown in rows.
export function traceOf(call, result) {
  const kind = kinds[call.name];
  const args = parsed(call.arguments) || {};
  const trace = { kind, asked: args.query || args.pattern || args.ref || '', ref: args.ref || null, scope: args.scope || '', hits: [], total: 0, more: false,
    waiting: !result, error: '' };
  if (!result) return trace;
  const got = parsed(result.text);
  if (result.is_error || !got) return { ...trace, hits: null, error: result.is_error ? result.text || '' : '' };
  if (Array.isArray(got.hits)) return { ...trace, hits: got.hits.map(hitOf), total: got.hits.length, more: Boolean(got.truncated) };
  if (Array.isArray(got.matches)) return { ...trace, hits: got.matches.map(matchOf), total: got.total ?? got.matches.length, more: Boolean(got.partial) };
  if (Array.isArray(got.refs)) return { ...trace, hits: got.refs.map(refOf), total: got.refs.length, more: Boolean(got.next) };
  if (Array.isArray(got.kept)) return { ...trace, hits: got.kept.map(keptOf), total: got.kept.length, more: Boolean(got.next) };
  if (typeof got.content === 'string') return { ...trace, ref: got.ref || trace.ref, hits: [], total: got.bytes || 0, text: got.content };
  return { ...trace, hits: null };
}

// within says whether a card stands for message seq in what the model sees.
export const within = (seq) => compacted.value.some((x) => seq >= x.first_seq && seq <= x.last_seq);

// compactedBefore is how many messages before seq are compacted.
export const compactedBefore = (seq) => compacted.value.reduce((n, x) => n + Math.max(0, Math.min(x.last_seq, seq - 1) - x.first_seq + 1), 0);

const letter = /[\p{L}\p{N}_]/u;
const cjk = /[\u3400-\u9fff\uf900-\ufaff]/;
const narrows = /^(role|after|before|on):/i;

// terms are the words that a search was for; of a run of Chinese characters also its pairs,
// which is how it is found.
export function terms(asked) {
  const out = [];
  for (const [, exact, word] of asked.matchAll(/"([^"]+)"|([^\s"“”,，。；;]+)/g)) {
    if (exact) { out.push(exact); continue; }
    if (narrows.test(word)) continue;
    out.push(word);
    const run = Array.from(word);
    if (run.length > 2 && run.every((c) => cjk.test(c))) for (let i = 0; i + 2 <= run.length; i++) out.push(run[i] + run[i + 1]);
  }
  return [...new Set(out.map((w) => w.toLowerCase()))].filter((w) => w.length > 1 || cjk.test(w) || letter.test(w));
}

const SHORT = 2; // letters up to which a word is only marked where it is the whole of one

const begins = (text, at, w) => cjk.test(w[0]) || at === 0 || !letter.test(text[at - 1]);
const ends = (text, to, w) => w.length > SHORT || cjk.test(w[0]) || to === text.length || !letter.test(text[to]);

// spans are where terms stand in a text, as [from, to], in order; what only a space keeps apart
// is one. A word in letters begins where a word begins.
export function spans(text, words) {
  const low = text.toLowerCase();
  if (low.length !== text.length) return [];
  const found = [];
  for (const w of words) {
    for (let at = low.indexOf(w); at >= 0; at = low.indexOf(w, at + w.length)) {
      if (begins(low, at, w) && ends(low, at + w.length, w)) found.push([at, at + w.length]);
    }
  }
  found.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  const out = [];
  for (const [from, to] of found) {
    const last = out[out.length - 1];
    if (last && (from <= last[1] || low.slice(last[1], from) === ' ')) last[1] = Math.max(last[1], to);
    else out.push([from, to]);
  }
  return out;
}

// pattern is where a regular expression matches; one that only the server's engine knows marks
// nothing.
export function pattern(text, source) {
  try {
    return [...text.matchAll(new RegExp(source, 'gi'))].filter((m) => m[0]).map((m) => [m.index, m.index + m[0].length]);
  } catch { return []; }
}

const LEAD = 36; // characters before the first mark

// snippet is one line of a text as {mark, text}, from shortly before its first mark.
export function snippet(text, marks, most = 240) {
  const line = text.replace(/\s/g, ' ');
  const first = marks.length ? marks[0][0] : 0;
  let from = first > LEAD ? first - LEAD : 0;
  if (from) { const gap = line.indexOf(' ', from); if (gap >= 0 && gap < first) from = gap + 1; }
  const to = Math.min(line.length, from + most);
  const out = from ? [{ mark: false, text: '…' }] : [];
  let at = from;
  for (const [a, b] of marks) {
    if (a >= to) break;
    if (a > at) out.push({ mark: false, text: line.slice(at, a) });
    out.push({ mark: true, text: line.slice(a, Math.min(b, to)) });
    at = Math.min(b, to);
  }
  out.push({ mark: false, text: line.slice(at, to) + (to < line.length ? '…' : '') });
  return out.filter((p) => p.text);
}

// resultsOf finds the results of look-ups among messages: of(m) are those of m's calls, by the
// id of the call, each with the seq of its message; key(m) changes with them.
export function resultsOf(ms) {
  const found = new Map();
  for (const m of ms) if (m.role === 'tool') for (const p of m.parts) if (p.type === 'tool_result' && recalls(p.name)) found.set(p.call_id, { result: p, seq: m.seq, turn: m.turn_id });
  const calls = (m) => (found.size && m.role === 'assistant' ? m.parts.filter((p) => p.type === 'tool_call' && found.has(p.id) && found.get(p.id).seq > m.seq && found.get(p.id).turn === m.turn_id) : []);
  return { of: (m) => Object.fromEntries(calls(m).map((p) => [p.id, found.get(p.id)])), key: (m) => calls(m).map((p) => p.id).join() };
}

// shownElsewhere are the seqs of messages all of whose results stand with their calls.
export function shownElsewhere(ms, results) {
  const told = new Set();
  for (const m of ms) for (const id of Object.keys(results.of(m))) told.add(`${m.turn_id} ${id}`);
  return new Set(ms.filter((m) => m.role === 'tool' && m.parts.length > 0 && m.parts.every((p) => p.type === 'tool_result' && told.has(`${m.turn_id} ${p.call_id}`))).map((m) => m.seq));
}
