// The next request above the message that is being written: its total, the bar of its layers,
// and what sending compacts.
import { html, useState } from './html.js';
import { icon } from './icons.js';
import * as bar from '../state/bar.js';
import { busy, compactNow } from '../state/receipts.js';
import { num } from '../state/figures.js';
import { go } from '../state/place.js';
import { look } from '../state/sees.js';
import { mayWrite } from '../state/session.js';
import { conversation } from '../state/thread.js';
import { t } from '../state/words.js';

const percent = (x) => `${x}%`;

// Cut says what sending compacts first.
export function Cut() {
  const c = bar.cut.value;
  if (!c) return null;
  const show = () => { look('you'); go(conversation.value.id, c.last_seq); };
  return html`<div class="foreseen">${icon('compact')}<div><p><b>${bar.cutSaid(c)}</b> ${t('composer.trade', c.messages, num(c.tokens_before), num(c.tokens_after))}</p>
    <p><button type="button" class="link" onClick=${show}>${t('composer.showCut')}</button>
      ${mayWrite.value && html`<button type="button" class="link" disabled=${busy.value} onClick=${compactNow}>${t('compactNow')}</button>`}
      <span>${t('composer.stay')}</span></p></div></div>`;
}

const Key = ({ name, tokens }) => html`<li><i class=${'swatch ' + name} /><span>${bar.named(name)}</span> <b>${num(tokens)}</b></li>`;

// Legend names the layers of the bar.
export function Legend({ cls = '' }) {
  const b = bar.bar.value;
  return b && html`<ul class=${'tally ' + cls}>${b.segments.map((s) => html`<${Key} key=${s.name} ...${s} />`)}
    ${b.over > 0 && html`<${Key} key="over" name="over" tokens=${b.over} />`}
    ${b.reserve > 0 && html`<${Key} key="reserve" name="reserve" tokens=${b.reserve} />`}</ul>`;
}

// Gauge is one tab stop; arrows go from layer to layer.
function Gauge({ b }) {
  const [at, setAt] = useState(0);
  const here = Math.min(at, b.segments.length - 1);
  const onKeyDown = (e) => {
    const to = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: b.segments.length - 1 }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    const next = Math.max(0, Math.min(to, b.segments.length - 1));
    setAt(next);
    e.currentTarget.children[next].focus();
  };
  return html`<div class="gauge" role="toolbar" aria-label=${t('composer.layers')} onKeyDown=${onKeyDown}>
    ${b.segments.map((s, i) => html`<button key=${s.name} type="button" class=${'seg ' + s.name} tabindex=${i === here ? 0 : -1} onFocus=${() => setAt(i)}
      aria-label=${t('composer.reach', bar.named(s.name), num(s.tokens))} style=${{ left: percent(s.from), width: percent(s.width) }}
      onClick=${() => { if (s.name === 'draft') document.querySelector('.composer .box textarea').focus(); bar.reach(s.name); }} />`)}
    ${b.over > 0 && html`<i class="overflow" style=${{ left: percent(b.limit), width: percent(b.overflow) }} />`}
    ${b.tick !== null && html`<i class="tick" title=${t('composer.tick')} style=${{ left: percent(b.tick) }} />`}
    <i class="limit" title=${t('composer.limit')} style=${{ left: percent(b.limit) }} /></div>`;
}

// Next is the whole of it; open has the legend stand below the bar, and else hint says that it
// is wanted.
export function Next({ open, hint }) {
  const b = bar.bar.value;
  if (!b) return null;
  const out = (e) => { if (!e.currentTarget.contains(e.relatedTarget)) hint(false); };
  return html`<section class="budget" aria-label=${t('composer.total', num(b.tokens), num(b.budget))}
      onPointerEnter=${() => hint(true)} onPointerLeave=${() => hint(false)} onfocusin=${() => hint(true)} onfocusout=${out}>
    <p class="sums"><span>${t('composer.next')} <b>${num(b.tokens)}</b> <span class="of" title=${b.reserve > 0 ? t('composer.reserved', num(b.budget + b.reserve), num(b.reserve)) : null}>${t('composer.of', num(b.budget))}</span></span>
      <span class=${b.over ? 'left over' : 'left'}>${bar.rest(b)}</span></p>
    <${Gauge} b=${b} />
    ${open && html`<${Legend} />`}</section>`;
}
