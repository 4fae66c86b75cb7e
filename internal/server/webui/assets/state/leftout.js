// The messages that requests leave out: those of the branch, and what was chosen since, which the
// next request takes along. A message that is left out stays where it is; the model is not sent it.
import { batch, computed, effect, signal } from '../vendor/signals-core.mjs';
import * as memory from './memory.js';
import * as thread from './thread.js';

const NAME = 'leftout';
const MOST = 30; // conversations with a choice that no request has taken yet

// chosen is what was chosen and not sent, by conversation: {id, out: [seq], back: [seq]}. It lives
// through a reload.
const chosen = signal(read());

function read() {
  try {
    const all = JSON.parse(memory.get(NAME) || '[]');
    return Array.isArray(all) ? all.filter((e) => e && e.id && Array.isArray(e.out) && Array.isArray(e.back)) : [];
  } catch { return []; }
}

// begin reads what the browser remembers, once that is known.
export function begin() { chosen.value = read(); }

const of = (id) => chosen.value.find((e) => e.id === id);

function put(id, out, back) {
  const others = chosen.value.filter((e) => e.id !== id);
  chosen.value = out.length || back.length ? [{ id, out, back }, ...others].slice(0, MOST) : others;
  memory.set(NAME, chosen.value.length ? JSON.stringify(chosen.value) : null);
}

const sorted = (seqs) => [...new Set(seqs)].sort((a, b) => a - b);

// all are the seqs that the next request of the open conversation leaves out.
export const all = computed(() => {
  const c = thread.conversation.value;
  const e = c && of(c.id);
  const stored = thread.without.value;
  if (!e) return stored;
  return sorted([...stored.filter((s) => !e.back.includes(s)), ...e.out.filter((s) => s <= thread.head.value)]);
});

// list is what a request says: the whole list where something was chosen since the last one.
export const list = (id) => (thread.conversation.value && thread.conversation.value.id === id && of(id) ? all.value : undefined);

// group are the seqs that go together with a message: a call and its results.
export function group(seq) {
  const held = thread.messages.value;
  const at = held.findIndex((m) => m.seq === seq);
  if (at < 0) return [seq];
  let first = at;
  while (first > 0 && held[first].role === 'tool') first--;
  if (!held[first].parts.some((p) => p.type === 'tool_call')) return [seq];
  let end = first + 1;
  while (end < held.length && held[end].role === 'tool') end++;
  return held.slice(first, end).map((m) => m.seq);
}

// leaveOut has requests leave a message out from the next one on.
export function leaveOut(id, seq) {
  const e = of(id) || { out: [], back: [] };
  const seqs = group(seq);
  put(id, sorted([...e.out, ...seqs.filter((s) => !thread.without.value.includes(s))]), e.back.filter((s) => !seqs.includes(s)));
}

// takeBack has them send it again.
export function takeBack(id, seq) {
  const e = of(id) || { out: [], back: [] };
  const seqs = group(seq);
  put(id, e.out.filter((s) => !seqs.includes(s)), sorted([...e.back, ...seqs.filter((s) => thread.without.value.includes(s))]));
}

// taken is told that a turn began with a list.
export function taken(id, without) {
  if (without === undefined) return;
  batch(() => {
    if (thread.conversation.value && thread.conversation.value.id === id) thread.without.value = without;
    put(id, [], []);
  });
}

// moved forgets what was chosen of messages that are not on the path any more: those behind seq.
export function moved(id, seq = 0) {
  const e = of(id);
  if (e) put(id, e.out.filter((s) => s <= seq), e.back.filter((s) => s <= seq));
}

// asks says whether the newest question is among what is left out: nothing is there to be answered.
export const asks = computed(() => {
  const question = thread.messages.value.findLast((m) => m.role === 'user');
  return Boolean(question && !all.value.includes(question.seq));
});

// follow calls back whenever the list of the open conversation changes by hand.
export const follow = (changed) => effect(() => { if (chosen.value) changed(); });
