// The raw text of what a model reads: marked where something was looked for, cut short until it
// is asked for, and cut to its ends where only these are sent.
import { html, useState } from './html.js';
import { icon } from './icons.js';
import { cutAgain, whole, wholes } from '../state/cards.js';
import { bytes, num } from '../state/figures.js';
import { ends, found, pieces, short } from '../state/pieces.js';
import { t } from '../state/words.js';

export const Marked = ({ text, re }) => found(text, re).map((x) => (x.mark ? html`<mark>${x.text}</mark>` : x.text));

const long = 1400; // characters that are shown of a text at first
const tall = 14; // and lines

const isLong = (text) => text.length > long * 1.2 || text.split('\n').length > tall * 1.3;
const head = (text) => Array.from(text.split('\n', tall).join('\n')).slice(0, long).join('');

// Raw is a text as it is, its beginning at first.
export function Raw({ text: as, mono, few = false }) {
  const [all, setAll] = useState(false);
  const text = as.replace(/^\n+|\n+$/g, ''); // which is sent, and need not be seen
  const cls = `raw${mono ? ' literal' : ''}`;
  const much = few ? text.length > 260 || text.split('\n').length > 3 : isLong(text);
  if (!much) return html`<div class=${cls}>${text}</div>`;
  return html`<div class=${cls + (few && !all ? ' few' : '')}>${all || few ? text : head(text) + ' …'}</div>
    <button type="button" class="link" aria-expanded=${all} onClick=${() => setAll(!all)}>${all ? t('model.showLess') : t('model.showAll')}</button>`;
}

const size = (cut, text) => (cut.bytes > text.length ? t('model.notSent', bytes(Math.max(0, cut.bytes - new TextEncoder().encode(text).length))) : t('model.notSentPlain'));

// Cut is a text of which only the ends are sent; the whole opens in its place.
function Cut({ piece: p }) {
  const { head: from, note, tail } = ends(p.text);
  const ref = p.cut.ref;
  const w = wholes.value[ref] || {};
  if (w.open && w.text !== undefined) {
    return html`<div class="raw literal whole">${w.text}</div>
      <p class="seam">${w.fault && html`<span class="bad">${t('model.unread', w.fault)}</span>`}
      ${!w.done && html`<button type="button" class="link" onClick=${() => whole(ref)}>${t('model.more', bytes(w.next), bytes(w.bytes))}</button>`}
      <button type="button" class="link" onClick=${() => cutAgain(ref)}>${t('model.showEnds')}</button></p>`;
  }
  return html`<${Raw} text=${from} mono few=${true} />
    <p class="seam dashed" title=${note}><span class="what">${icon('compact')}${size(p.cut, from + tail)}</span>
      <button type="button" class="link" onClick=${() => whole(ref)}>${t('model.showWhole', p.cut.tokens ? num(p.cut.tokens) : '')}</button></p>
    ${w.fault && html`<p class="bad" role="alert">${t('model.unread', w.fault)}</p>`}
    ${tail && html`<${Raw} text=${tail} mono few=${true} />`}`;
}

// Parts are those of an item, as the model reads them.
export const Parts = ({ parts, mono, few }) => {
  const all = pieces(parts);
  if (!all.length) return html`<p class="raw faint">${t('model.emptyText')}</p>`;
  return all.map((p, i) => (p.name !== undefined ? html`<p key=${i} class="named">${icon(p.image ? 'picture' : 'page')}${p.name}</p>`
    : p.cut ? html`<${Cut} key=${i} piece=${p} />`
      : html`${p.thought && html`<p class="faint">${t('model.thought')}</p>`}<${Raw} key=${i} text=${p.text} mono=${mono || p.raw} few=${few} />`));
};

// Passage is a message in a list: what is around the first match, or its beginning.
export function Passage({ text, re }) {
  const [all, setAll] = useState(false);
  const one = all ? { text, cut: true } : short(text, re);
  return html`<${Marked} text=${one.text} re=${re} />${one.cut && html` <button type="button" class="link" aria-expanded=${all} onClick=${() => setAll(!all)}>
    ${all ? t('model.showLess') : t('model.showAll')}</button>`}`;
}
