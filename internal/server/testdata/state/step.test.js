import { is, same, test } from './check.js';
import { after, blank, joinAt, open } from '/assets/state/step.js';

const replay = (events) => events.reduce(after, blank());

test('pieces join by characters, not by UTF-16 units', () => {
  same(joinAt({ text: '', count: 0 }, '🐋a', 0), { text: '🐋a', count: 2 });
  same(joinAt({ text: '🐋a', count: 2 }, 'ab', 1), { text: '🐋ab', count: 3 });
});

test('what is there already is not written twice, and a gap is not bridged', () => {
  const held = { text: 'abc', count: 3 };
  same(joinAt(held, 'bc', 1), held);
  same(joinAt(held, 'cd', 2), { text: 'abcd', count: 4 });
  same(joinAt(held, 'e', 4), null);
});

test('deltas that come again leave the step as it was', () => {
  const deltas = [{ type: 'delta', content: 'The key', at: 0 }, { type: 'delta', content: ' is 鲸', at: 7 }];
  same(replay([...deltas, ...deltas]).text, 'The key is 鲸');
  same(replay([deltas[1]]).text, '', 'a delta after a gap:');
});

test('thoughts and words are counted apart', () => {
  const s = replay([{ type: 'reasoning', content: 'hm', at: 0 }, { type: 'delta', content: 'yes', at: 0 },
    { type: 'reasoning', content: 'm', at: 2 }]);
  same([s.reasoning, s.thought, s.text, s.count], ['hmm', 3, 'yes', 3]);
});

test('a snapshot stands for all that came before it', () => {
  const s = replay([{ type: 'delta', content: 'lost', at: 0 }, { type: 'tool_result', call_id: 'x' },
    { type: 'snapshot', content: 'whole', at: 5, reasoning: '想想', tool_calls: [{ id: 'c' }] }, { type: 'delta', content: '!', at: 5 }]);
  same(s, { ...blank(), text: 'whole!', count: 6, reasoning: '想想', thought: 2, calls: [{ id: 'c' }], results: [] });
});

test('a call that comes again replaces the one before', () => {
  const s = replay([{ type: 'tool_call', id: 'a', arguments: '{' }, { type: 'tool_call', id: 'b' },
    { type: 'tool_call', id: 'a', arguments: '{}' }, { type: 'tool_result', call_id: 'a' }]);
  same(s.calls.map((c) => [c.id, c.arguments]), [['b', undefined], ['a', '{}']]);
  same(s.results.length, 1);
});

test('a step is never changed in place, and other events leave it', () => {
  const s = Object.freeze({ ...blank(), calls: Object.freeze([]), results: Object.freeze([]) });
  for (const type of ['delta', 'reasoning']) is(after(s, { type, content: 'x', at: 0 }) !== s, type);
  for (const type of ['tool_call', 'tool_result']) is(after(s, { type }) !== s, type);
  is(after(s, { type: 'usage' }) === s, 'usage made another step');
});

const said = { type: 'delta', content: '🐋 a\n\nb\n', at: 0 };
const first = { type: 'block', index: 0, at: 0, end: 5, html: '<p>🐋 a</p>' };

test('a closed block is drawn, and what follows it stays open', () => {
  const s = replay([said, first]);
  same([s.blocks, s.covered, open(s)], [[{ index: 0, html: '<p>🐋 a</p>' }], 5, 'b\n']);
  const more = replay([said, first, { type: 'block', index: 1, at: 5, end: 7, html: '<p>b</p>' }, { type: 'delta', content: 'c', at: 7 }]);
  same([more.blocks.length, open(more)], [2, 'c']);
  is(more.blocks[0].html === s.blocks[0].html && replay([said, first, first]).blocks.length === 1, 'a block that came twice was drawn twice');
});

test('a block that leaves a gap, or whose text is missing, is passed over', () => {
  for (const bad of [{ ...first, index: 1 }, { ...first, at: 1 }, { ...first, end: 99 }]) same(open(replay([said, bad])), said.content);
});

test('a snapshot is drawn from its beginning', () => {
  const s = replay([said, first, { type: 'snapshot', content: '🐋 a\n\nc', at: 6, reasoning: '', tool_calls: [] }]);
  same([s.blocks, open(s)], [[], '🐋 a\n\nc']);
  same(open(after(s, first)), 'c');
});
