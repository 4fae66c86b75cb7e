import { conversation, is, same, serve, test, when } from './check.js';
import * as bar from '/assets/state/bar.js';
import { manifest } from '/assets/state/context.js';
import { panel } from '/assets/state/panels.js';
import { place } from '/assets/state/place.js';
import * as sees from '/assets/state/sees.js';
import { blank } from '/assets/state/step.js';
import * as thread from '/assets/state/thread.js';
import * as turn from '/assets/state/turn.js';
import { lang } from '/assets/state/words.js';

const layer = (name, tokens, ...items) => ({ name, tokens, items });
const full = (fields) => ({ conversation_id: 'c', excluded: [], budget: 1000, tokens: 800, compacts_at: 900, draft: 50, layers: [
  layer('instructions', 100, { kind: 'instructions', tokens: 100 }), layer('environment', 0), layer('summary', 60, { kind: 'summary', seq: 1, last_seq: 90, tokens: 60 }),
  layer('messages', 540, { kind: 'pin', seq: 7, tokens: 40 }, { kind: 'message', seq: 91, tokens: 500 }),
  layer('prompt', 100, { kind: 'message', seq: 95, tokens: 50 }, { kind: 'message', tokens: 50 })], ...fields });
const near = (a, b) => Math.abs(a - b) < 1e-9;

test('each layer has its share of 115 % of the budget, and the draft is the last', () => {
  const b = bar.figure(full());
  same(b.segments.map((s) => [s.name, s.tokens]), [['instructions', 100], ['summary', 60], ['pins', 40], ['messages', 550], ['draft', 50]]);
  is(near(b.limit, 100 / 1.15) && near(b.tick, 90 / 1.15) && near(b.segments[0].width, 10 / 1.15), 'the scale');
  is(near(b.segments[4].from + b.segments[4].width, 80 / 1.15), 'together they are the request');
  same([b.left, b.compacts, b.over, bar.rest(b)], [100, true, 0, '100 left before it compacts']);
});

test('what is over the budget overflows, in words too', () => {
  const b = bar.figure(full({ tokens: 2000, draft: 1250, layers: full().layers.map((l) => (l.name === 'prompt' ? { ...l, tokens: 1300 } : l)) }));
  is(near(b.limit + b.overflow, 100), 'it ends with the bar');
  is(b.segments.every((s) => s.from + s.width <= b.limit + 1e-9), 'no layer stands beyond the limit');
  same([b.over, bar.rest(b)], [1000, '1,000 over']);
  lang.value = 'zh';
  same(bar.rest(b), '超出 1,000');
  lang.value = 'en';
  same([bar.figure(full({ compacts_at: 0 })).tick, bar.rest(bar.figure(full({ compacts_at: 0 })))], [null, '200 left']);
});

test('it grows as an answer comes', () => {
  thread.adopt(conversation('c'));
  manifest.value = full();
  same([bar.bar.value.tokens, bar.growing.value], [800, 0]);
  turn.running.value = { conversation: 'c', turn: 't' };
  turn.step.value = { ...blank(), text: 'x'.repeat(80) + '潮汐' };
  same([bar.bar.value.tokens, bar.bar.value.segments.find((s) => s.name === 'messages').tokens, bar.rest(bar.bar.value)], [822, 572, 'growing as it answers']);
  turn.running.value = null;
  same(bar.bar.value.tokens, 800);
  manifest.value = full({ conversation_id: 'other' });
  same(bar.bar.value, null, 'of another conversation:');
});

test('what sending compacts is said', () => {
  manifest.value = full({ compacts: { first_seq: 2683, last_seq: 2878, messages: 196, tokens_before: 32202, tokens_after: 13400 } });
  same(bar.cutSaid(bar.cut.value), 'Sending compacts #2,683–#2,878.');
  manifest.value = full();
  same(bar.cut.value, null);
});

test('a layer leads to its messages, or to what stands beside them', () => {
  manifest.value = full();
  bar.reach('messages');
  same([place.value.id, place.value.seq], ['c', 91]);
  bar.reach('pins');
  same(place.value.seq, 7);
  bar.reach('summary');
  same(place.value.seq, 1);
  panel.value = null;
  bar.reach('instructions');
  same(panel.value, 'settings');
  const seen = [];
  const stop = sees.reaching((l) => seen.push(l));
  sees.look('model');
  bar.reach('instructions');
  bar.reach('draft');
  stop();
  sees.look('you');
  same(seen, ['instructions', 'prompt']);
});

test('totals are said now and then', async () => {
  serve({});
  manifest.value = full();
  const stop = bar.begin();
  manifest.value = full({ tokens: 820 });
  await when(() => bar.said.value !== '', 'the total');
  same(bar.said.value, 'Next request 820 of 1,000 tokens. 80 left before it compacts');
  manifest.value = full({ tokens: 830 });
  await new Promise((r) => setTimeout(r, 700));
  is(bar.said.value.includes('820'), 'it was said too soon');
  stop();
});
