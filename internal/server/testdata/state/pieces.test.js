import { same, test } from './check.js';
import { about, ends, finder, found, pieces, plain, short } from '/assets/state/pieces.js';

const ref = 'artifact:0a1b';
const cut = `head\n[… 44.0KB left out here. The whole is ${ref} (a log): read it with context_read, context_tail or context_grep.]\ntail`;

test('a text that was cut has a head, a note and a tail; another is all head', () => {
  const e = ends(cut);
  same([e.head, e.tail, e.note.includes(ref)], ['head', 'tail', true]);
  same(ends('plain [… nothing]'), { head: 'plain [… nothing]', note: '', tail: '' });
});

test('parts become pieces of raw text, or names of what has none', () => {
  const parts = [{ type: 'text', text: 'a' }, { type: 'tool_call', name: 'look', arguments: { at: 1 } },
    { type: 'tool_result', text: 'r', recall: true }, { type: 'image', name: 'i.png', width: 2, height: 3 }, { type: 'reasoning', text: '' }];
  same(pieces(parts).map((p) => p.text ?? p.name), ['a', 'look {"at":1}', 'r', 'i.png · 2×3']);
  same(plain(parts), 'a\nlook {"at":1}\nr\ni.png · 2×3');
  same(about({ parts }), 'looked up; never indexed again · tool call · 1 attachment');
  same(about({ parts: [{ type: 'text', text: cut, cut: { ref, bytes: 9, tokens: 1 } }] }), 'cut to head and tail');
});

test('what a pattern matches is marked, and what it cannot read marks nothing', () => {
  same(found('the Datum of 12', finder('datum|\\d+')), [{ mark: false, text: 'the ' }, { mark: true, text: 'Datum' },
    { mark: false, text: ' of ' }, { mark: true, text: '12' }]);
  same(finder('('), null);
  same(found('abc', finder('x*')), [{ mark: false, text: 'abc' }], 'an empty match:');
  same(found('abc', null), [{ mark: false, text: 'abc' }]);
});

test('of a long text the passage around the match is shown', () => {
  const long = '潮'.repeat(2000) + 'bolt' + '汐'.repeat(2000);
  const s = short(long, finder('bolt'));
  same([s.cut, s.text.includes('bolt'), s.text.startsWith('… '), s.text.endsWith(' …'), s.text.length < 500], [true, true, true, true, true]);
  same(short('short', finder('o')), { text: 'short', cut: false });
  same(short(long, null).text.startsWith('潮'), true);
});
