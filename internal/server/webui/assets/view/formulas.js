// Formulas: Temml makes MathML of their TeX, which browsers draw and screen readers read. It is
// fetched with the first formula; one that it does not know stays as it was written.
import { formula, macros } from '../state/formula.js';

const MATHML = 'http://www.w3.org/1998/Math/MathML';
const asset = (path) => new URL(path, import.meta.url).href;

let fetched = null;

const done = (el, attributes) => new Promise((resolve, reject) => {
  Object.assign(el, attributes, { onload: resolve, onerror: reject });
  document.head.append(el);
});

// fetchTemml is asked for it once; where it could not be had, the next formula asks again.
function fetchTemml() {
  fetched ||= Promise.all([
    done(document.createElement('script'), { src: asset('../vendor/temml.min.js') }),
    done(document.createElement('link'), { rel: 'stylesheet', href: asset('../vendor/temml.css') }),
  ]).catch((err) => { fetched = null; throw err; });
  return fetched;
}

// What is shown of one formula at most: elements, and elements within each other.
const ELEMENTS = 20000;
const DEPTH = 200;

// safe says whether what was made is MathML alone, which links and pictures are not, and no more
// of it than a browser can lay out. Ids are taken away: those of \label could be the page's.
function safe(made) {
  const open = [...made.children].map((el) => [el, 1]);
  for (let n = 0; open.length > 0; n++) {
    const [el, depth] = open.pop();
    if (n > ELEMENTS || depth > DEPTH || el.namespaceURI !== MATHML || el.hasAttribute('href')) return false;
    el.removeAttribute('id');
    for (const child of el.children) open.push([child, depth + 1]);
  }
  return made.childElementCount > 0;
}

function draw(written) {
  const read = formula(written.textContent);
  if (!read) return;
  const made = document.createElement(written.matches('pre') ? 'div' : 'span');
  made.className = 'formula';
  try {
    globalThis.temml.render(read.tex, made, { displayMode: read.display, throwOnError: true, maxSize: [40, 400], wrap: read.display ? 'none' : 'tex', macros: macros() });
  } catch { return; }
  if (!safe(made)) return;
  for (const math of made.children) math.setAttribute('alttext', read.tex.trim());
  written.replaceWith(made);
}

// drawFormulas draws those within an element, now or as soon as that can be done.
export function drawFormulas(el) {
  const all = el.querySelectorAll('code.formula, pre.formula');
  if (all.length === 0) return;
  if (globalThis.temml) for (const written of all) draw(written);
  else fetchTemml().then(() => drawFormulas(el), () => {});
}
