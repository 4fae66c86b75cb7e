// A look-up of the model in what was said before, as its own line: what it searched, what it
// found, and each find a link to its original.
import { html, useState } from './html.js';
import { icon } from './icons.js';
import { day, num } from '../state/figures.js';
import { dim, light, lit } from '../state/lit.js';
import { brief, firstLine, readable } from '../state/message.js';
import { href } from '../state/place.js';
import { read } from '../state/reader.js';
import { compactedBefore, pattern, snippet, spans, terms, traceOf, within } from '../state/trace.js';
import { t } from '../state/words.js';

const SHOWN = 3; // finds that are shown before the rest is asked for

const state = (h) => (h.conversation ? t('trace.elsewhere') : h.seq ? t(within(h.seq) ? 'trace.compacted' : 'trace.live') : h.ref ? t('trace.compacted') : '');

// dated is a day as the server writes it, for people; noon keeps it the same day everywhere.
const dated = (d) => (/^\d{4}-\d{2}-\d{2}$/.test(d) ? day(Date.parse(d + 'T12:00:00Z')) : d);

const Marked = ({ text, marks }) => snippet(text, marks).map((p) => (p.mark ? html`<mark>${p.text}</mark>` : p.text));

function Hit({ hit: h, marks, conversation }) {
  const here = h.seq && !h.conversation;
  const away = { onMouseEnter: () => here && light(h.seq), onMouseLeave: () => dim(h.seq), onFocus: () => here && light(h.seq), onBlur: () => dim(h.seq) };
  const where = [h.date && dated(h.date), state(h)].filter(Boolean).join(' · ');
  const what = html`<span class="number">${h.seq ? html`<b class=${`ref${here && !within(h.seq) ? '' : ' compacted'}`}>#${num(h.seq)}</b>` : h.line ? html`<b>${t('line', h.line)}</b>` : null}</span>
    <span class="found"><${Marked} text=${h.text} marks=${marks(h.text)} /></span><span class="where">${where}</span>`;
  const cls = `hit${here && lit.value === h.seq ? ' pointed' : ''}`;
  if (h.seq) return html`<li><a class=${cls} href=${href(h.conversation || conversation, h.seq)} ...${away}>${what}</a></li>`;
  if (h.ref) return html`<li><button type="button" class=${cls} onClick=${() => read(conversation, h.ref, firstLine(h.text), h.line)}>${what}</button></li>`;
  return html`<li><span class=${cls}>${what}</span></li>`;
}

// Title says what was looked up and how much there was.
function Title({ trace: x, before }) {
  const n = x.kind === 'search' || (x.kind === 'grep' && !x.ref) ? compactedBefore(before) : 0;
  const facts = [n > 0 && !x.scope ? t('trace.among', n, num(n)) : '', x.waiting ? t('trace.waiting') : x.hits && x.kind !== 'read' && x.kind !== 'tail' ? t('trace.found', x.total, num(x.total), x.more) : ''];
  return html`<b>${t('trace.' + x.kind, x.asked)}</b><span class="facts">${facts.filter(Boolean).join(' · ')}</span>`;
}

// Trace is one look-up: seqs are the messages of the call and its result, from first to last.
export function Trace({ call, result, seqs, conversation }) {
  const [open, setOpen] = useState(null); // as its reader left it
  const [all, setAll] = useState(false);
  const x = traceOf(call, result);
  const words = x.kind === 'grep' ? null : terms(x.asked);
  const marks = (text) => (words ? spans(text, words) : pattern(text, x.asked));
  const has = x.waiting ? 0 : x.hits ? x.hits.length || (x.text ? 1 : 0) : 1;
  const shown = has > 0 && (open ?? (x.kind === 'search' || x.kind === 'grep'));
  const [first, last] = seqs || [];
  return html`<section class=${`trace${shown ? ' open' : ''}${x.error ? ' bad' : ''}`} aria-label=${t('trace.' + x.kind, x.asked)}>
    <div class="asked">
      <button type="button" class="toggle" aria-expanded=${has > 0 ? shown : undefined} disabled=${!has} onClick=${() => setOpen(!shown)}>
        ${icon('search')}<span class="title"><${Title} trace=${x} before=${first || Infinity} /></span>${has > 0 && html`<span class="caret">${icon('caret')}</span>`}</button>
      ${first && html`<a class="seqs" href=${href(conversation, first)}>#${num(first)}${last > first ? `–#${num(last)}` : ''}</a>`}</div>
    ${shown && (x.hits && x.hits.length ? html`<ul>${x.hits.slice(0, all ? undefined : SHOWN).map((h, i) => html`<${Hit} key=${i} hit=${h} marks=${marks} conversation=${conversation} />`)}
        ${!all && x.hits.length > SHOWN && html`<li><button type="button" class="link more" onClick=${() => setAll(true)}>${t('trace.more', x.hits.length - SHOWN)}</button></li>`}</ul>`
      : html`<pre tabindex="0">${x.text || x.error || readable(result.text) || brief(call.arguments)}</pre>
        ${x.ref && html`<button type="button" class="link more" onClick=${() => read(conversation, x.ref, x.ref)}>${t('trace.whole')}</button>`}`)}
  </section>`;
}
