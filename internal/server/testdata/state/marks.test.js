import { same, test } from './check.js';
import { forget, marks, pieces } from '/assets/state/marks.js';

const shown = (text, words) => pieces(text, words).map((p) => (p.mark ? `[${p.text}]` : p.text)).join('');

test('words are marked where they stand, with their endings', () => {
  same([shown('The Reports report a reporter; a disreport', ['report']), shown('站长也要一份中文的报告', ['中文', '报告']), shown('a+b (c)', ['a+b', '(c)']), shown('plain', []), shown('plain', ['']), shown('', ['x'])],
    ['The [Reports] [report] a [reporter]; a disreport', '站长也要一份[中文]的[报告]', '[a+b] [(c)]', 'plain', 'plain', '']);
  same(shown('datumwards', ['datum']), '[datum]wards');
});

test('what was found is forgotten', () => {
  marks.value = { conversation: 'a', words: ['x'], seqs: [1] };
  forget();
  same(marks.value, null);
});
