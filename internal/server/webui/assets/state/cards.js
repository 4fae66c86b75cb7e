// The cards that stand for compacted messages: what each consists of, level by level, the
// originals that are read in it, and what was looked for inside.
import { batch, signal } from '../vendor/signals-core.mjs';
import { api } from './api.js';

const PAGE = 50; // messages that are shown at once
const AROUND = 2; // messages beside a match
const MOST = 200; // matches that the server returns

export const segments = signal(new Map()); // what is known of the cards, by ref
export const cards = signal({}); // by ref: {open, leaves, fault}
export const originals = signal({}); // by ref of a leaf: {from, to, messages, fault}
export const greps = signal({}); // by ref of a card: {pattern, total, matches, at, totals, partial, fault, busy}
export const wholes = signal({}); // by ref of an artifact: {open, text, bytes, done, next, fault}

let of = null; // the conversation that all of it is of

const put = (at, ref, fields) => { at.value = { ...at.value, [ref]: { ...at.value[ref], ...fields } }; };
const know = (list) => { segments.value = new Map([...segments.value, ...list.map((s) => [s.ref, s])]); };

// visit forgets what was read in another conversation, and asks what the cards of this one are.
export async function visit(id) {
  if (id !== of) {
    of = id;
    batch(() => { segments.value = new Map(); for (const s of [cards, originals, greps, wholes]) s.value = {}; });
  }
  if (!id) return;
  try {
    const got = await api.listSegments(id);
    if (id === of) know(got.segments || []);
  } catch { /* what can be drawn without it is; opening a card says why */ }
}

// open reads what a card consists of; a card without leaves of its own shows its messages.
export async function open(ref) {
  put(cards, ref, { open: true });
  if (cards.value[ref].leaves) return;
  const mine = of;
  try {
    const got = await api.listLeaves(of, ref);
    if (mine !== of) return;
    batch(() => { know(got.leaves); put(cards, ref, { leaves: got.leaves, fault: '' }); });
    if (got.leaves.length === 1 && got.leaves[0].ref === ref) await read(got.leaves[0]);
  } catch (err) { if (mine === of) put(cards, ref, { fault: err.message }); }
}

export const close = (ref) => put(cards, ref, { open: false });
export const toggle = (ref) => (cards.value[ref]?.open ? close(ref) : open(ref));

// toggleLeaf opens a leaf in place: another level, or its messages.
export function toggleLeaf(leaf) {
  if (cards.value[leaf.ref]?.open) { close(leaf.ref); return undefined; }
  if (leaf.rolled_up) return open(leaf.ref);
  put(cards, leaf.ref, { open: true, leaves: [leaf] });
  return read(leaf);
}

const fetchRun = async (from, to) => (await api.listMessages(of, { after: from - 1, before: to + 1, limit: Math.min(200, to - from + 1) })).messages;

// read shows the messages of a leaf: its first, or those around one of them.
export async function read(leaf, around = 0) {
  const held = originals.value[leaf.ref];
  if (held && held.messages && (!around || (around >= held.from && around <= held.to))) return;
  const from = around ? Math.max(leaf.first_seq, around - AROUND) : leaf.first_seq;
  const to = Math.min(leaf.last_seq, around ? around + AROUND : from + PAGE - 1);
  await take(leaf, from, to, () => []);
}

async function take(leaf, from, to, keep) {
  const mine = of;
  try {
    const got = await fetchRun(from, to);
    if (mine !== of) return;
    const all = [...keep(got).filter((m) => m.seq < from || m.seq > to), ...got].sort((a, b) => a.seq - b.seq);
    put(originals, leaf.ref, { messages: all, from: all.length ? all[0].seq : from, to: all.length ? all[all.length - 1].seq : to, fault: '' });
  } catch (err) { if (mine === of) put(originals, leaf.ref, { fault: err.message }); }
}

export function above(leaf) {
  const o = originals.value[leaf.ref];
  return take(leaf, Math.max(leaf.first_seq, o.from - PAGE), o.from - 1, () => o.messages);
}

export function below(leaf) {
  const o = originals.value[leaf.ref];
  return take(leaf, o.to + 1, Math.min(leaf.last_seq, o.to + PAGE), () => o.messages);
}

const looks = {}; // by ref, the newest look

// grep looks for a pattern in what a card stands for.
export async function grep(ref, pattern) {
  const mine = (looks[ref] = (looks[ref] || 0) + 1);
  if (!pattern) { put(greps, ref, { pattern: '', total: 0, matches: [], at: -1, totals: {}, fault: '', busy: false }); return; }
  put(greps, ref, { pattern, busy: true });
  try {
    const got = await api.grep(of, { ref, pattern, max_results: MOST });
    if (mine !== looks[ref]) return;
    put(greps, ref, { total: got.total, matches: got.matches.filter((m) => m.seq), partial: Boolean(got.partial), at: -1, totals: {}, fault: '', busy: false });
    if (got.total > got.matches.length) await count(ref, pattern, () => mine === looks[ref]);
  } catch (err) { if (mine === looks[ref]) put(greps, ref, { total: 0, matches: [], at: -1, totals: {}, fault: err.message, busy: false }); }
}

// count counts the lines of each leaf by itself, where not all of them were returned.
async function count(ref, pattern, wanted) {
  for (const leaf of cards.value[ref]?.leaves || []) {
    const got = await api.grep(of, { ref: leaf.ref, pattern, max_results: 1 });
    if (!wanted()) return;
    put(greps, ref, { totals: { ...greps.value[ref].totals, [leaf.ref]: got.total } });
  }
}

const within = (leaf, seq) => leaf.first_seq <= seq && seq <= leaf.last_seq;

// lines is how many matching lines a leaf has.
export const lines = (g, leaf) => (g && g.pattern ? g.totals?.[leaf.ref] ?? (g.matches || []).filter((m) => within(leaf, m.seq)).length : 0);

// reveal opens all that is between a card and one of its messages.
export async function reveal(ref, seq) {
  await open(ref);
  for (let at = ref; ;) {
    const leaf = (cards.value[at]?.leaves || []).find((l) => within(l, seq));
    if (!leaf) return false;
    if (leaf.rolled_up) { await open(leaf.ref); at = leaf.ref; continue; }
    put(cards, leaf.ref, { open: true, leaves: [leaf] });
    await read(leaf, seq);
    return Boolean(originals.value[leaf.ref]?.messages?.some((m) => m.seq === seq));
  }
}

// step goes to the next match of a card, or the one before, and returns its seq.
export async function step(ref, by) {
  const g = greps.value[ref];
  const n = g && g.matches ? g.matches.length : 0;
  if (!n) return 0;
  const at = g.at < 0 ? (by > 0 ? 0 : n - 1) : (g.at + by + n) % n;
  put(greps, ref, { at });
  await reveal(ref, g.matches[at].seq);
  return g.matches[at].seq;
}

const WHOLE = 64 << 10; // bytes that are read at once

// whole reads on in a text of which only the ends are sent.
export async function whole(ref) {
  const w = wholes.value[ref] || {};
  put(wholes, ref, { open: true });
  if (w.done) return;
  const mine = of;
  try {
    const got = await api.readRef(of, ref, { offset: w.next || undefined, limit: WHOLE });
    if (mine === of) put(wholes, ref, { text: (w.text || '') + got.content, next: got.next_offset, done: got.done, bytes: got.bytes, fault: '' });
  } catch (err) { if (mine === of) put(wholes, ref, { fault: err.message }); }
}

export const cutAgain = (ref) => put(wholes, ref, { open: false });
