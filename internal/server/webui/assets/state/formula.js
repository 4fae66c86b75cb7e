// Formulas as the server sends them: TeX with what stands around it.

export const MOST = 8000; // characters of TeX that are drawn

const AROUND = [['$$', '$$', true], ['\\[', '\\]', true], ['\\(', '\\)', false], ['$', '$', false]];

// A formula that defines commands is not drawn: a few of them can stand for millions of signs.
const DEFINES = /\\(?:[egx]?def|(?:future)?let|newcommand|renewcommand|providecommand|global|long)(?![a-zA-Z])/;

// formula reads {tex, display} out of a formula with what stands around it; null where it has
// no end, or is not drawn.
export function formula(written) {
  const text = written.trim();
  const around = AROUND.find(([open]) => text.startsWith(open));
  if (!around) return null;
  const [open, close, display] = around;
  const tex = text.slice(open.length, -close.length);
  if (!text.endsWith(close) || text.length <= open.length + close.length || tex.length > MOST || DEFINES.test(tex)) return null;
  return { tex, display };
}

// macros are commands that KaTeX has and Temml has not, and \overset, which Temml sets like an
// exponent over a letter.
const colors = ['red', 'blue', 'green', 'orange', 'purple', 'gray', 'pink', 'teal'];
export const macros = () => ({
  '\\KaTeX': '\\textrm{KaTeX}', '\\overset': '\\stackrel{#1}{#2}',
  ...Object.fromEntries(colors.map((c) => [`\\${c}`, `\\textcolor{${c}}{#1}`])),
});
