import { is, same, serve, test } from './check.js';
import { cards, dates, lines, load, scale, shape, tall } from '/assets/state/minimap.js';

const bins = (n, each, at) => Array.from({ length: n }, (_, i) => ({ first_seq: i * each + 1, last_seq: (i + 1) * each, at: at(i), bytes: (i % 5) * 100 * each, user: 1, assistant: 1 }));
const day = 86400000;

test('a seq has a place, and the place that seq', () => {
  for (const [head, height] of [[1, 500], [40, 500], [3000, 700], [100000, 700]]) {
    const at = scale(head, height);
    same([at.y(1), at.seq(0), at.seq(height * 2), at.seq(-5)], [0, 1, head, 1], `${head}:`);
    for (const seq of [1, Math.ceil(head / 3), head]) is(Math.abs(at.seq(at.y(seq)) - seq) <= 1, `${seq} of ${head} is at ${at.y(seq)}`);
    is(at.y(head + 1) <= height, 'the end is inside');
  }
});

test('a short conversation does not fill the map', () => {
  same([tall(2, 700), tall(0, 700), tall(100, 700), tall(2, 30), tall(2, -10)], [48, 24, 700, 30, 0]);
});

test('strokes are as long as the messages are, within bounds', () => {
  const s = { head_seq: 1000, from: 0, to: 0, bins: bins(100, 10, () => 0) };
  const drawn = lines(s, 600);
  same(drawn.length, 100);
  for (const l of drawn) is(l.long >= 0.15 && l.long <= 1 && l.to > l.y && l.to <= 600.01, JSON.stringify(l));
  is(drawn[0].long < drawn[4].long, 'a longer message has a longer stroke');
  same(lines({ head_seq: 0, bins: [] }, 600), []);
});

test('dates stand apart: months for a long log, days for a short one', () => {
  const year = { head_seq: 1000, from: 0, to: 360 * day, bins: bins(100, 10, (i) => i * 3.6 * day + day) };
  const labels = dates(year, 700);
  is(labels.length > 8 && labels.every((l) => l.long), `${labels.length} months`);
  for (let i = 1; i < labels.length; i++) is(labels[i].y - labels[i - 1].y >= 28, 'they do not touch');
  same(dates(year, 30).length <= 2, true);
  const week = dates({ head_seq: 100, from: 0, to: 6 * day, bins: bins(50, 2, (i) => i * day / 8) }, 700);
  is(week.length > 3 && week.every((l) => !l.long), `${week.length} days`);
});

test('a conversation is loaded with the leaves of its roll-ups', async () => {
  serve({ 'GET /api/conversations/c/shape': { head_seq: 30, from: 0, to: 9, bins: bins(3, 10, () => 0) },
    'GET /api/conversations/c/segments': { segments: [{ ref: 'history:a', first_seq: 1, last_seq: 20, rolled_up: true }, { ref: 'history:b', first_seq: 21, last_seq: 25 }], head_seq: 30, pinned_seqs: [] },
    'GET /api/conversations/c/refs/history%3Aa/leaves': { leaves: [{ first_seq: 1, last_seq: 8 }, { first_seq: 9, last_seq: 20 }] } });
  await load('c');
  same([shape.value.head_seq, cards.value.map((c) => c.leaves)], [30, [[[1, 8], [9, 20]], [[21, 25]]]]);
  await load(null);
  same([shape.value, cards.value], [null, []]);
});
