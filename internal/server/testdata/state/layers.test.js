import { same, test } from './check.js';
import { holds, layers, runs, stands } from '/assets/state/layers.js';

const text = (s) => [{ type: 'text', text: s }];
const at = (seq, role = 'user') => ({ kind: 'message', layer: 'messages', role, seq, tokens: 10, parts: text('m' + seq) });

test('items become layers; what opens and closes the block of what was compacted stands with it', () => {
  const got = layers([
    { kind: 'instructions', tokens: 1, parts: text('i') }, { kind: 'tools', tokens: 2, parts: [], tools: [] },
    { kind: 'folded', tokens: 4, joined_with_next: true, parts: text('<open>') },
    { kind: 'summary', seq: 1, last_seq: 9, tokens: 8, joined_with_next: true, parts: text('s') },
    { kind: 'placeholder', seq: 1, last_seq: 4, ref: 'history:a', tokens: 16, joined_with_next: true, parts: text('a') },
    { kind: 'placeholder', seq: 5, last_seq: 9, ref: 'history:b', tokens: 32, joined_with_next: true, parts: text('b') },
    { kind: 'folded', tokens: 0, parts: text('</close>') },
    { kind: 'pin', seq: 3, tokens: 64, parts: text('p') }, at(10), at(11, 'assistant'),
    { kind: 'message', layer: 'prompt', draft: true, tokens: 128, parts: text('d') }]);
  same(got.map((b) => [b.kind, b.tokens, b.items.length, b.open, b.close]), [
    ['instructions', 1, 1, '', ''], ['tools', 2, 1, '', ''], ['summary', 8, 1, '<open>', ''], ['compacted', 52, 2, '', '</close>'],
    ['pins', 64, 1, '', ''], ['messages', 20, 2, '', ''], ['draft', 128, 1, '', '']]);
  same(stands(got[3].items), 9);
  same(layers(undefined), []);
});

test('an item holds the messages it stands for', () => {
  same([holds({ seq: 3, last_seq: 7 }, 7), holds({ seq: 3 }, 3), holds({ seq: 3 }, 4), holds({}, 0)], [true, true, false, false]);
});

test('live messages stand in runs, but for the newest turn and texts that were cut', () => {
  const cut = { ...at(6), parts: [{ type: 'text', text: 'x', cut: { ref: 'artifact:1' } }] };
  const all = [at(1), at(2, 'assistant'), at(3), at(4, 'assistant'), at(5), cut, at(7), at(8, 'assistant'), at(9), at(10, 'assistant'), at(11, 'tool')];
  same(runs(all).map((x) => (x.run ? [x.first, x.last, x.tokens] : x.item.seq)), [[1, 5, 50], 6, 7, 8, 9, 10, 11]);
  same(runs([at(1), at(2, 'assistant')]).length, 2, 'too few for a run:');
  same(runs(Array.from({ length: 9 }, (_, i) => at(i + 1, 'assistant'))).map((x) => (x.run ? x.run.length : 1)), [6, 1, 1, 1], 'without a question:');
});
