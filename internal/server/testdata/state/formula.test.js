import { same, test } from './check.js';
import { MOST, formula } from '/assets/state/formula.js';

test('a formula is what stands between its delimiters', () => {
  same(formula('$x$'), { tex: 'x', display: false });
  same(formula('\\(a_1\\)'), { tex: 'a_1', display: false });
  same(formula('$$\nx\n$$'), { tex: '\nx\n', display: true });
  same(formula('\\[ \\frac12 \\]\n'), { tex: ' \\frac12 ', display: true });
});

test('one without an end, without anything in it, or of another kind is none', () => {
  for (const written of ['$$\nx', '$$', '$$x$', '\\[ x', '\\( x \\]', 'x', '']) same(formula(written), null, `${written}:`);
});

test('one that is too long or defines commands is not drawn', () => {
  same(formula(`$${'x'.repeat(MOST)}$`).tex.length, MOST);
  same(formula(`$${'x'.repeat(MOST + 1)}$`), null);
  for (const tex of ['\\def\\a{x}\\a', '\\gdef\\a{}', '\\newcommand{\\a}{x}', '\\renewcommand\\a{}', '\\let\\a\\b', '\\global\\long\\x']) same(formula(`$${tex}$`), null, `${tex}:`);
  for (const tex of ['\\left( x \\right)', '\\deg x', '\\longrightarrow', '\\leteq']) same(formula(`$${tex}$`).tex, tex);
});
