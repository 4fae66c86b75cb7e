// The page before anything was said: what this is, and a sample to see it on.
import { html } from './html.js';
import { icon } from './icons.js';
import { choose } from './imported.js';
import { keysOpen, searchOpen } from '../state/panels.js';
import { go } from '../state/place.js';
import * as receipts from '../state/receipts.js';
import * as sample from '../state/sample.js';
import * as search from '../state/search.js';
import { look } from '../state/sees.js';
import { mayWrite } from '../state/session.js';
import { t } from '../state/words.js';

export const Opening = () => html`<div class="opening"><h2>${t('first.title')}</h2><p>${t('first.about')}</p></div>`;

// The three pictures, drawn in the colours of the page.
const bars = (cls, xs) => xs.map(([x, y, w]) => html`<rect class=${cls} x=${x} y=${y} width=${w} height="3.5" rx="1.75" />`);
const pictures = {
  search: html`<svg viewBox="0 0 230 64" aria-hidden="true"><rect class="frame" x="8" y="6" width="202" height="16" rx="8" />${bars('ink', [[24, 12, 52]])}${bars('pale', [[8, 36, 130], [8, 52, 168]])}<rect class="found" x="50" y="32" width="36" height="11" rx="3" /></svg>`,
  compact: html`<svg viewBox="0 0 230 64" aria-hidden="true">${bars('live', [[8, 6, 72], [8, 14, 84], [8, 22, 60], [8, 30, 78], [8, 38, 40], [8, 46, 70], [8, 54, 30]])}<path class="arrow" d="M108 32h26M126 24l9 8-9 8" /><rect class="card" x="150" y="12" width="66" height="11" rx="3" />${bars('live', [[150, 33, 50], [150, 42, 58]])}</svg>`,
  open: html`<svg viewBox="0 0 230 64" aria-hidden="true"><rect class="card" x="8" y="4" width="204" height="14" rx="4" /><path class="chev" d="M17 9l4 4 4-4" /><path class="edge" d="M18 26v34" />${bars('grey', [[30, 27, 120], [30, 36, 160], [30, 45, 90], [30, 54, 140]])}</svg>`,
};

const Step = ({ picture, title, about }) => html`<li>${pictures[picture]}<h4>${title}</h4><p>${about}</p></li>`;

export function FirstSteps() {
  if (!mayWrite.value) return null;
  return html`<div class="firststeps"><section class="tour"><header><div><h3>${t('first.sample')}</h3><p>${t('first.sampleAbout')}</p></div>
      <button type="button" class="plain strong" disabled=${sample.making.value} onClick=${sample.make}>${t(sample.making.value ? 'first.making' : 'first.open')}</button></header>
    <ol><${Step} picture="search" title=${t('first.search')} about=${t('first.searchAbout')} />
      <${Step} picture="compact" title=${t('first.compact')} about=${t('first.compactAbout')} />
      <${Step} picture="open" title=${t('first.again')} about=${t('first.againAbout')} /></ol></section>
    <p class="more"><button type="button" class="ghost text" onClick=${choose}>${icon('import')}${t('first.import')}</button>
      <button type="button" class="ghost text" onClick=${() => { keysOpen.value = true; }}>${icon('keyboard')}${t('first.keys')}</button></p></div>`;
}

// SampleBar stays above the sample: the three things to try, and the way out.
export function SampleBar() {
  if (!sample.open.value) return null;
  const find = () => { search.text.value = sample.word.value; search.scope.value = 'here'; searchOpen.value = true; };
  return html`<div class="samplebar"><span>${t('first.isSample')}</span>
    <button type="button" class="link" onClick=${find}>${t('first.trySearch', sample.word.value)}</button>
    <button type="button" class="link" disabled=${receipts.busy.value} onClick=${receipts.compactNow}>${t('first.tryCompact')}</button>
    <button type="button" class="link" onClick=${() => look('model')}>${t('first.tryOpen')}</button>
    <button type="button" class="link out" onClick=${sample.remove}>${t('first.remove')}</button></div>`;
}
