// The one place that shows HTML: the server's, which it has sanitised.
import { html, useLayoutEffect, useRef } from './html.js';
import { lang, t } from '../state/words.js';
import { drawFormulas } from './formulas.js';

const SCROLLERS = '.table, .code pre, .plain, div.formula, pre.formula';

// reachable lets the keyboard scroll what is too wide, and nothing else be a stop for it.
function reachable(el) {
  for (const s of el.querySelectorAll(SCROLLERS)) {
    const wide = s.scrollWidth > s.clientWidth;
    if (!wide) { s.removeAttribute('tabindex'); s.removeAttribute('role'); s.removeAttribute('aria-label'); continue; }
    s.tabIndex = 0;
    s.setAttribute('role', 'region');
    s.setAttribute('aria-label', t(s.matches('.table') ? 'markup.table' : s.matches('.formula') ? 'markup.formula' : 'markup.code'));
  }
}

const sizes = new ResizeObserver((all) => { for (const one of all) reachable(one.target); });

// dress gives code its button to copy it.
function dress(el) {
  for (const caption of el.querySelectorAll('.code > figcaption')) {
    let copy = caption.querySelector('.copy');
    if (!copy) {
      const name = document.createElement('span');
      name.append(...caption.childNodes);
      copy = document.createElement('button');
      copy.type = 'button';
      copy.className = 'copy';
      caption.append(name, copy);
    }
    copy.textContent = t('copy');
  }
}

async function copy(button) {
  try {
    await navigator.clipboard.writeText(button.closest('figure').querySelector('pre').textContent);
    button.textContent = t('copied');
    setTimeout(() => { button.textContent = t('copy'); }, 1500);
  } catch { /* the browser forbids it; the text can still be selected */ }
}

// press copies code, and goes between a footnote and what it stands behind: the address of the
// page names a conversation, and stays.
function press(e) {
  const at = e.target.closest('.copy, a.footnote-ref, a.footnote-backref');
  if (!at) return;
  e.preventDefault();
  if (at.matches('.copy')) { copy(at); return; }
  const to = e.currentTarget.querySelector(`[id="${CSS.escape(at.getAttribute('href').slice(1))}"]`);
  if (!to) return;
  to.scrollIntoView({ block: 'nearest' });
  const focus = to.querySelector('a');
  if (focus) focus.focus({ preventScroll: true });
}

export function Markup({ html: source }) {
  const box = useRef(null);
  const language = lang.value;
  useLayoutEffect(() => {
    const el = box.current;
    sizes.observe(el);
    return () => sizes.unobserve(el);
  }, []);
  useLayoutEffect(() => { dress(box.current); drawFormulas(box.current); sizes.unobserve(box.current); sizes.observe(box.current); }, [source, language]); // it is measured with all others, once they are laid out
  return html`<div class="markup" ref=${box} onClick=${press} dangerouslySetInnerHTML=${{ __html: source }} />`;
}
