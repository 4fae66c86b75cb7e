// The shape of the whole log: how long its messages are, which stretches are compacted, what is
// pinned, and where each of them lies beside the scroll.
import { batch, signal } from '../vendor/signals-core.mjs';
import { api } from './api.js';

export const shape = signal(null); // of the open conversation, as the API tells it
export const cards = signal([]); // what is compacted: {first_seq, last_seq, rolled_up, leaves: [[from, to]]}
export const seen = signal(null); // the seqs in view: {from, to}

const BINS = 300;
let asked = 0;

// load reads the shape of a conversation; what cannot be read leaves the map as it was.
export async function load(id) {
  const mine = ++asked;
  if (!id) { batch(() => { shape.value = null; cards.value = []; seen.value = null; }); return; }
  try {
    const [s, c] = await Promise.all([api.shape(id, { bins: BINS }), api.listSegments(id)]);
    const known = new Map(cards.value.map((x) => [x.ref, x.leaves]));
    const own = await Promise.all(c.segments.map((x) => (x.rolled_up ? known.get(x.ref) || leaves(id, x.ref) : [[x.first_seq, x.last_seq]])));
    if (mine !== asked) return;
    batch(() => {
      shape.value = s;
      cards.value = c.segments.map((x, i) => ({ ...x, leaves: own[i] }));
    });
  } catch { /* the page says elsewhere that the server does not respond */ }
}

const leaves = async (id, ref) => (await api.listLeaves(id, ref)).leaves.map((l) => [l.first_seq, l.last_seq]);

// scale places seqs on a map of some height, and finds them again.
export function scale(head, height) {
  const n = Math.max(1, head);
  return {
    y: (seq) => ((Math.min(Math.max(seq, 1), n + 1) - 1) / n) * height,
    seq: (y) => Math.min(n, Math.max(1, Math.floor((y / Math.max(1, height)) * n) + 1)),
  };
}

const EACH = 24; // pixels for a message at most

// tall is how much of a height the map of so many messages needs: a short conversation does not
// fill it, so that its strokes and the box of what is in view stay near its size.
export const tall = (head, height) => Math.max(0, Math.min(height, Math.max(1, head) * EACH));

// most is what nine of ten stay below.
const most = (xs) => xs.slice().sort((a, b) => a - b)[Math.floor(xs.length * 0.9)] || 1;

// lines are the bins as strokes: where, and how long from 0.15 to 1.
export function lines(s, height) {
  const at = scale(s.head_seq, height);
  const mean = (b) => b.bytes / Math.max(1, b.last_seq - b.first_seq + 1);
  const means = s.bins.map(mean);
  const [low, high] = [Math.min(...means), most(means)];
  return s.bins.map((b) => ({ y: at.y(b.first_seq), to: at.y(b.last_seq + 1), first: b.first_seq, last: b.last_seq,
    long: 0.15 + 0.85 * Math.min(1, (mean(b) - low) / Math.max(1, high - low)) }));
}

// dates are the labels beside the map: the first of each month, or of each day where all is
// within one, never closer than apart.
export function dates(s, height, apart = 28) {
  const at = scale(s.head_seq, height);
  const long = s.to - s.from > 45 * 86400000;
  const unit = (ms) => { const d = new Date(ms); return long ? d.getFullYear() * 12 + d.getMonth() : Math.floor((ms - d.getTimezoneOffset() * 60000) / 86400000); };
  const out = [];
  let last = null;
  for (const b of s.bins) {
    const u = unit(b.at);
    if (u === last) continue;
    last = u;
    const y = at.y(b.first_seq);
    if (!out.length || y - out[out.length - 1].y >= apart) out.push({ y, at: b.at, long });
  }
  return out;
}
