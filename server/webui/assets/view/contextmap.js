// The context map: what the next request sends, layer by layer, what it leaves out and where
// that is read, and the receipts of compactions.
import { html, useState } from './html.js';
import { Button, icon } from './icons.js';
import { Settings } from './settings.js';
import * as context from '../state/context.js';
import { bytes, clock, iso, num, percent, whole } from '../state/figures.js';
import { panel } from '../state/panels.js';
import { read } from '../state/reader.js';
import { conversation } from '../state/thread.js';
import { t } from '../state/words.js';

const layerName = (name) => (name === 'messages' ? t('layer.messages') : t(name));

function Bar({ manifest: m }) {
  const shown = m.layers.filter((l) => l.tokens > 0);
  const free = Math.max(0, m.budget - m.tokens);
  const label = `${t('ofBudget', num(m.tokens), num(m.budget))}: ${shown.map((l) => `${layerName(l.name)} ${num(l.tokens)}`).join(', ')}`;
  return html`<div class="bar" role="img" aria-label=${label}>
    ${shown.map((l) => html`<i key=${l.name} class=${'fill ' + l.name} style=${{ flexGrow: l.tokens }} title=${`${layerName(l.name)} · ${num(l.tokens)}`} />`)}
    <i key="free" class="fill free" style=${{ flexGrow: free }} title=${`${t('free')} · ${num(free)}`} /></div>
  <ul class="legend">${shown.map((l) => html`<li key=${l.name}><i class=${'dot ' + l.name} /><span>${layerName(l.name)}</span><b>${num(l.tokens)}</b></li>`)}
    <li key="free" class="rest"><i class="dot free" /><span>${t('free')}</span><b>${num(free)}</b></li></ul>`;
}

const Fact = ({ name, children }) => html`<div><dt>${name}</dt><dd>${children}</dd></div>`;

function Facts({ manifest: m }) {
  return html`<dl class="facts">
    <${Fact} name=${t('model')}>${m.model}<//>
    <${Fact} name=${t('policy')}>${m.policy}<//>
    <${Fact} name=${t('limit')}>${num(m.limit)} <span>${t('from.' + m.limit_from)}</span><//>
    <${Fact} name=${t('budget')}>${num(m.budget)}<//>
    <${Fact} name=${t('cacheReuse')}>${percent(m.cache_reuse)}<//>
    <${Fact} name=${t('bytesSent')}>${bytes(m.bytes)}${m.images ? ` · ${t('images', m.images)}` : ''}<//>
  </dl>`;
}

function LeftOut({ manifest: m, id }) {
  if (!m.excluded.length) return html`<p class="quiet">${t('nothingLeftOut')}</p>`;
  return html`<ul class="items">${m.excluded.map((x) => {
    const r = x.ref && context.receiptOf(x);
    const what = html`<b>${context.range(x)}</b><span>${context.reason(x)}${r && r.summary_by ? ` · ${r.summary_by === 'extractive' ? t('extractive') : t('by', r.summary_by)}` : ''}</span>`;
    return html`<li key=${x.first_seq + '-' + x.last_seq}>${x.ref
      ? html`<button type="button" onClick=${() => read(id, x.ref, context.range(x))} title=${`${t('readOriginal')} · ${x.ref}`}>${what}${icon('chevron')}</button>`
      : html`<a href=${`#${id}/${x.first_seq}`}>${what}</a>`}</li>`;
  })}</ul>`;
}

function Receipts() {
  const rs = context.receipts.value;
  if (!rs.length) return html`<p class="quiet">${t('noReceipts')}</p>`;
  return html`<ol class="items receipts">${rs.map((r, i) => html`<li key=${r.created_at + ':' + i} class=${r.undone ? 'undone' : ''}>
    <b>${r.result === 'compacted' ? (r.cleared ? t('cleared') : t('compaction.compacted')) + (r.last_seq ? ` ${context.range(r)}` : '') : t('compaction.' + r.result)}</b>
    <time datetime=${iso(r.created_at)} title=${whole(r.created_at)}>${clock(r.created_at)}</time>
    ${r.result === 'compacted' && html`<span>${context.saved(r)}${r.summary_by === 'extractive' ? '' : ` · ${t('by', r.summary_by)}`}${r.summary_result ? ` · ${context.why(r)}` : ''}${r.checked ? ` · ${t('checked')}` : ''}${r.undone ? ` · ${t('undone')}` : ''}${r.inherited ? ` · ${t('inherited')}` : ''}</span>`}</li>`)}</ol>`;
}

function Acts() {
  const [sure, setSure] = useState(false);
  const busy = context.busy.value;
  const canUndo = context.compacted.value.length > 0;
  if (sure) return html`<div class="confirm" role="alertdialog" aria-label=${t('startAfresh')}><p>${t('confirmAfresh')}</p><div>
    <button type="button" class="plain strong" disabled=${busy} onClick=${async () => { await context.startAfresh(); setSure(false); }}>${t('yesAfresh')}</button>
    <button type="button" class="plain" onClick=${() => setSure(false)}>${t('cancel')}</button></div></div>`;
  return html`<div class="acts">
    <button type="button" class="plain" disabled=${busy} onClick=${context.compactNow}>${icon('compact')} ${t('compactNow')}</button>
    <button type="button" class="plain" disabled=${busy} onClick=${() => setSure(true)}>${t('startAfresh')}</button>
    <button type="button" class="plain" disabled=${busy || !canUndo} onClick=${context.undoCompaction}>${t('undoCompaction')}</button></div>`;
}

export function ContextMap() {
  const c = conversation.value;
  const m = context.manifest.value;
  return html`<aside class="panel" aria-label=${t('map')}>
    <div class="top"><h2>${t('map')}</h2><${Button} name="close" label=${t('closeMap')} onClick=${() => { panel.value = null; }} /></div>
    ${!c || !m ? html`<p class="quiet pad">${t('loading')}</p>` : html`<div class="sections">
      <section><h3>${t('next')}</h3><p class="total"><b>${num(m.tokens)}</b> ${t('ofBudget', '', num(m.budget))}</p><${Bar} manifest=${m} /></section>
      <section><${Acts} key=${c.id} /></section>
      <section><h3>${t('leftOut')}</h3><${LeftOut} manifest=${m} id=${c.id} /></section>
      <section><${Facts} manifest=${m} /><${Settings} key=${c.id} c=${c} /></section>
      <section><h3>${t('receipts')}</h3><${Receipts} /></section></div>`}
  </aside>`;
}
