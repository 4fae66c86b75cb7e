// The list of conversations as it is drawn: one flat run of groups, conversations and their
// sub-agents, of which only the part in sight is drawn.
import { computed, signal } from '../vendor/signals-core.mjs';
import { agentsOf, isOpen } from './agents.js';
import { list, pinned } from './conversations.js';
import { group } from './dates.js';
import { density } from './theme.js';
import { t } from './words.js';

const DEPTH = 4; // of sub-agents below sub-agents

// heights are those of a group's name, a conversation and the count of its sub-agents, in CSS
// pixels; the style sheet gives them the same.
export const heights = {
  comfortable: { group: 34, row: 48, below: 26 },
  compact: { group: 30, row: 32, below: 24 },
};

// flat lists what there is: {kind: 'group'|'row'|'below', key, …}. What is pinned comes first,
// whatever else the list holds of it.
export function flat(list, pinned, now) {
  const out = [];
  const add = (c, depth) => {
    out.push({ kind: 'row', key: c.id, c, depth });
    const below = depth < DEPTH ? agentsOf(c.id) : [];
    if (!below.length) return;
    out.push({ kind: 'below', key: `${c.id} agents`, c, n: below.length, depth, open: isOpen(c.id) });
    if (isOpen(c.id)) for (const a of below) add(a, depth + 1);
  };
  if (pinned.length) out.push({ kind: 'group', key: 'group pinned', label: t('side.pinned'), pinned: true });
  for (const c of pinned) add(c, 0);
  const known = new Set(pinned.map((c) => c.id));
  let last = null;
  for (const c of list) {
    if (known.has(c.id)) continue;
    const g = group(c.updated_at || 0, now);
    if (g.key !== last) out.push({ kind: 'group', key: `group ${g.key}`, label: g.label });
    last = g.key;
    add(c, 0);
  }
  return out;
}

// tops are where each of the items begins, and behind the last one where they end.
export function tops(items, of) {
  const out = [0];
  for (const x of items) out.push(out[out.length - 1] + of[x.kind]);
  return out;
}

// at is the item that lies at a height.
export function at(tops, y) {
  let [low, high] = [0, Math.max(0, tops.length - 2)];
  while (low < high) {
    const mid = (low + high + 1) >> 1;
    if (tops[mid] <= y) low = mid;
    else high = mid - 1;
  }
  return low;
}

const BEYOND = 8; // items that are drawn above and below what is in sight

// part is the run of items that is drawn: from and to, of which to is not.
export function part(tops, top, height) {
  const n = tops.length - 1;
  return { from: Math.max(0, at(tops, top) - BEYOND), to: Math.min(n, at(tops, top + height) + 1 + BEYOND) };
}

// now is the time that the list's dates are seen from.
export const now = signal(Date.now());
export const tick = () => { now.value = Date.now(); };

export const items = computed(() => flat(list.value, pinned.value, now.value));
export const places = computed(() => tops(items.value, heights[density.value]));

// beside is the key of the next conversation from one, up or down the list, of which only the
// first and the last have none; with no one, it is the first or the last.
export function beside(key, by) {
  const rows = items.value.filter((x) => x.kind === 'row');
  const i = rows.findIndex((x) => x.key === key);
  const to = i < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, i + by));
  return rows[to] ? rows[to].key : null;
}
