// The cards of compacted messages: what the model reads of them, what they consist of, and the
// originals, in place, at every level.
import { html, useRef } from './html.js';
import { icon, Button } from './icons.js';
import { Passage } from './rawtext.js';
import * as cards from '../state/cards.js';
import { conversation } from '../state/thread.js';
import { date, num } from '../state/figures.js';
import { lit } from '../state/lit.js';
import { roleName } from '../state/message.js';
import { aim } from '../state/model.js';
import { finder, pieces, plain } from '../state/pieces.js';
import { href } from '../state/place.js';
import { t } from '../state/words.js';

export const range = (a, b) => (a === b || !b ? `#${num(a)}` : `#${num(a)}–#${num(b)}`);
const days = (x) => (x.from ? (date(x.from) === date(x.to) ? date(x.from) : `${date(x.from)} – ${date(x.to)}`) : '');

// More is what is not shown of a run of messages, and how to see it.
export const More = ({ n, said, onClick }) => n > 0 && html`<p class="further">${t(said, n)} · <button type="button" class="link" onClick=${onClick}>${t('model.show')}</button></p>`;

const pinned = (seq) => (conversation.value.pinned_seqs || []).includes(seq);

function Original({ message: m, re }) {
  const mono = m.role === 'tool' || pieces(m.parts).some((p) => p.raw);
  return html`<li class=${`orig${lit.value === m.seq ? ' lit' : ''}`} data-seq=${m.seq} data-stop tabindex="-1">
    <a class="ref compacted" href=${href(conversation.value.id, m.seq)}>#${num(m.seq)}</a>
    <div class=${mono ? 'literal' : ''}><span class="faint">${roleName(m.role)}</span> <${Passage} text=${plain(m.parts) || t('model.emptyText')} re=${re} />
      ${pinned(m.seq) && html`<span class="pinned" title=${t('model.pinned')}>${icon('pin')}<span class="unseen">${t('model.pinned')}</span></span>`}</div></li>`;
}

// Originals are the messages of a leaf: a window of them that grows both ways.
function Originals({ leaf, re }) {
  const o = cards.originals.value[leaf.ref];
  if (!o) return html`<p class="faint pad" role="status">${t('loading')}</p>`;
  if (o.fault) return html`<p class="bad pad" role="alert">${t('model.unread', o.fault)}</p>`;
  return html`<div class="origs"><${More} n=${o.from - leaf.first_seq} said="model.aboveN" onClick=${() => cards.above(leaf)} />
    <ol>${o.messages.map((m) => html`<${Original} key=${m.seq} message=${m} re=${re} />`)}</ol>
    <${More} n=${leaf.last_seq - o.to} said="model.belowN" onClick=${() => cards.below(leaf)} /></div>`;
}

// Leaf is a row of a card; it opens to its messages, or to leaves of its own.
function Leaf({ leaf: l, grep: g, re }) {
  const is = cards.cards.value[l.ref] || {};
  const lines = cards.lines(g, l);
  const name = range(l.first_seq, l.last_seq);
  return html`<li class=${`leaf${is.open ? ' open' : ''}${lines ? '' : ' nohit'}`} data-seq=${l.first_seq} data-last=${l.last_seq}>
    <button type="button" class="opens" data-stop aria-expanded=${Boolean(is.open)} onClick=${() => cards.toggleLeaf(l)}>${icon('chevron')}<b>${name}</b>
      <span class="days">${days(l)}</span><span class="hint">${l.rolled_up ? t('model.rolled') : l.hint}</span>${lines > 0 && html`<span class="lines">${t('model.lines', lines)}</span>`}</button>
    ${is.open && (is.fault ? html`<p class="bad pad" role="alert">${t('model.unread', is.fault)}</p>`
      : l.rolled_up ? html`<${Leaves} of=${is} grep=${g} re=${re} />` : html`<${Originals} leaf=${l} re=${re} />`)}</li>`;
}

const Leaves = ({ of, grep, re }) => (of.leaves
  ? html`<ul class=${`leaves${grep && grep.pattern ? ' looking' : ''}`}>${of.leaves.map((l) => html`<${Leaf} key=${l.ref} leaf=${l} grep=${grep} re=${re} />`)}</ul>`
  : html`<p class="faint pad" role="status">${t('loading')}</p>`);

// outcome says in words what was found.
function outcome(g, leaves) {
  if (!g || !g.pattern) return '';
  if (g.busy) return t('model.looking');
  if (!g.total) return t('model.noLines');
  const hit = leaves.filter((l) => cards.lines(g, l) > 0).length;
  const n = leaves.length > 1 ? t('model.linesIn', g.total, hit, leaves.length) : t('model.lines', g.total);
  return [g.matches.length < g.total && g.at >= 0 ? t('model.firstLines', g.matches.length, g.total) : n, g.partial && t('model.someUnread')].filter(Boolean).join(' · ');
}

let pause = 0;

function Grep({ card: ref, grep: g, leaves }) {
  const field = useRef(null);
  const look = () => { clearTimeout(pause); cards.grep(ref, field.current.value); };
  const typed = () => { clearTimeout(pause); pause = setTimeout(look, 250); };
  const go = async (by) => {
    if ((g ? g.pattern : '') !== field.current.value) { clearTimeout(pause); await cards.grep(ref, field.current.value); }
    const seq = await cards.step(ref, by);
    if (seq) { aim.value = { seq, within: ref }; lit.value = seq; }
  };
  const onKeyDown = (e) => {
    if (e.isComposing) return;
    if (e.key === 'Enter') { e.preventDefault(); go(e.shiftKey ? -1 : 1); }
    if (e.key === 'Escape' && field.current.value) { e.preventDefault(); e.stopPropagation(); field.current.value = ''; look(); }
  };
  const n = g && g.matches ? g.matches.length : 0;
  return html`<div class="finds"><span class="faint name">${t('model.originals')}</span>
    <label>${icon('search')}<span class="unseen">${t('model.grep')}</span><input ref=${field} type="text" class="literal" spellcheck="false" autocomplete="off"
      placeholder=${t('model.grepHint')} defaultValue=${(g && g.pattern) || ''} onInput=${typed} onKeyDown=${onKeyDown} /></label>
    <span class=${g && g.fault ? 'bad' : 'dim'} role="status">${g && g.fault ? g.fault : outcome(g, leaves)}</span>
    ${n > 0 && html`<span class="steps">${g.at >= 0 && html`<span class="faint">${t('model.at', num(g.at + 1), num(n))}</span>`}
      <${Button} name="up" label=${t('model.previousMatch')} onClick=${() => go(-1)} /><${Button} name="down" label=${t('model.nextMatch')} onClick=${() => go(1)} /></span>`}</div>`;
}

// Card stands for a run of messages; item is what of it is in the request.
export function Card({ item }) {
  const ref = item.ref;
  const is = cards.cards.value[ref] || {};
  const known = cards.segments.value.get(ref);
  const g = cards.greps.value[ref];
  const re = g && g.pattern ? finder(g.pattern) : null;
  const name = range(item.seq, item.last_seq);
  const itself = is.leaves && is.leaves.length === 1 && is.leaves[0].ref === ref;
  const what = [known && known.rolled_up ? (is.leaves ? t('model.rolledUp', is.leaves.length) : t('model.rolled')) : t('messages', item.last_seq - item.seq + 1), known && days(known)];
  return html`<div class=${`stand${is.open ? ' open' : ''}`} data-seq=${item.seq} data-last=${item.last_seq} role="group" aria-label=${name}>
    <button type="button" class="face" data-stop aria-expanded=${Boolean(is.open)} onClick=${() => cards.toggle(ref)}>${icon('chevron')}<b>${name}</b>
      <span class="what">${what.filter(Boolean).join(' · ')}</span><span class="weight">${known && html`<span class="was">${num(known.tokens)} → </span>`}${num(item.tokens)}</span></button>
    ${is.open && html`<div class="reads"><p class="faint">${t('model.reads')}</p><div class="raw literal">${plain(item.parts).replace(/^\n+|\n+$/g, '')}</div></div>
      <${Grep} card=${ref} grep=${g} leaves=${is.leaves || []} />
      ${is.fault ? html`<p class="bad pad" role="alert">${t('model.unread', is.fault)}</p>`
        : itself ? html`<${Originals} leaf=${is.leaves[0]} re=${re} />` : html`<${Leaves} of=${is} grep=${g} re=${re} />`}`}</div>`;
}
