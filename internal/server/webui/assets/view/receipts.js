// The receipts of compactions: for each what it replaced and by what, what stayed in words, who
// wrote it and why; undoing and redoing, with what they come to before they are done.
import { html, useLayoutEffect, useRef, useState } from './html.js';
import { icon } from './icons.js';
import { manifest, range } from '../state/context.js';
import { clock, iso, money, num, seconds, whole } from '../state/figures.js';
import { read } from '../state/reader.js';
import * as receipts from '../state/receipts.js';
import { mayWrite } from '../state/session.js';
import { t } from '../state/words.js';

export const CompactNow = () => html`<button type="button" class="ghost text" disabled=${receipts.busy.value} onClick=${receipts.compactNow}>${icon('compact')}${t('compactNow')}</button>`;

const share = (n, of) => `${Math.max(0.6, Math.min(100, (100 * n) / Math.max(1, of)))}%`;

// Trade is two bars on one scale: what it was, and what stands for it.
function Trade({ receipt: r }) {
  const [was, is] = r.folded_tokens ? [r.folded_tokens, r.card_tokens || 0] : [r.tokens_before, r.tokens_after];
  const most = Math.max(was, is);
  return html`<div class="trade" role="img" aria-label=${receipts.trade(r)}>
    <i class="was" style=${{ width: share(was, most) }} /><span>${r.folded_tokens ? html`${t('messages', receipts.counted(r))}<br />` : ''}${t('tokens', was)}</span>
    <i class="is" style=${{ width: share(is, most) }} /><span>${t('tokens', is)}</span></div>`;
}

const Fact = ({ name, children }) => children && html`<div><dt>${name}</dt><dd>${children}</dd></div>`;

function Facts({ receipt: r, id }) {
  const by = !receipts.by(r) ? t('receipt.extracts') : r.summary_by === 'client' ? receipts.by(r)
    : [r.summary_by, r.duration_ms ? seconds(r.duration_ms) : '', r.cost > 0 ? money(r.cost, 'USD') : t('receipt.free')].filter(Boolean).join(t('receipt.comma'));
  const refs = r.refs || [];
  return html`<dl class="facts">
    <${Fact} name=${t('receipt.why')}>${receipts.reason(r)}<//>
    <${Fact} name=${t('receipt.by')}>${by}${r.checked ? ` · ${t('checked')}` : ''}<//>
    ${(r.tries || []).map((x, i) => html`<${Fact} key=${i} name=${t('receipt.try', i + 1)}>${receipts.refused(x)}<//>`)}
    <${Fact} name=${t('receipt.model')}>${!(r.tries || []).length && receipts.why(r)}<//>
    <${Fact} name=${t('receipt.kept')}>${r.inherited && t('inherited')}<//>
    <${Fact} name=${t('receipt.originals')}>${refs.length > 0 && refs.map((ref, i) => html`<button type="button" class="link" key=${ref} onClick=${() => read(id, ref, range(r))}>
      ${refs.length === 1 ? t('receipt.openAll', num(receipts.counted(r))) : t('receipt.openOne', i + 1)}</button>`)}<//>
  </dl>`;
}

// Scale is the next request as it is and as it would be: up to its budget, and hatched beyond.
function Scale({ trial: x, manifest: m }) {
  const [low, high] = [Math.min(x.before, x.after), Math.max(x.before, x.after)];
  const of = Math.max(m.budget * 1.15, high * 1.04);
  const at = (n) => `${(100 * n) / of}%`;
  return html`<div class="scale" aria-hidden="true"><i class="now" style=${{ width: at(low) }} />
    <i class=${x.after < x.before ? 'gone' : 'more'} style=${{ left: at(low), width: at(Math.max(0, Math.min(high, m.budget) - low)) }} />
    ${high > m.budget && html`<i class="beyond" style=${{ left: at(Math.max(low, m.budget)), width: at(high - Math.max(low, m.budget)) }} />`}
    ${m.compacts_at > 0 && html`<i class="tick" style=${{ left: at(m.compacts_at) }} />`}<i class="limit" style=${{ left: at(m.budget) }} /></div>`;
}

// Trial asks once more, with what would come of it. Either can be taken back, so what was asked for has the focus.
function Trial({ trial: x, receipt: r }) {
  const first = useRef(null);
  const ready = x.after !== undefined;
  useLayoutEffect(() => {
    if (!ready) return;
    first.current.closest('.trial').scrollIntoView({ block: 'nearest' });
    first.current.focus({ preventScroll: true });
  }, [ready]);
  const question = t(x.verb === 'undo' ? 'receipt.undoThis' : 'receipt.redoThis');
  const onKeyDown = (e) => { if (e.key === 'Escape') { e.stopPropagation(); receipts.keep(); } };
  if (!ready) return html`<p class="quiet" role="status">${t('loading')}</p>`;
  return html`<div class="trial" role="alertdialog" aria-label=${question} onKeyDown=${onKeyDown}><h4>${question}</h4><p>${receipts.comes(x, manifest.value)}</p>
    ${manifest.value && html`<${Scale} trial=${x} manifest=${manifest.value} />`}
    <div class="acts"><button type="button" class="plain strong" ref=${first} disabled=${receipts.busy.value} onClick=${() => receipts.go(r, x.verb)}>${t(x.verb === 'undo' ? 'receipt.undoIt' : 'receipt.redo')}</button>
      <button type="button" class="plain" onClick=${receipts.keep}>${t(x.verb === 'undo' ? 'receipt.keep' : 'receipt.leave')}</button></div></div>`;
}

function Inside({ receipt: r, id }) {
  const x = receipts.trial.value && receipts.trial.value.id === receipts.idOf(r) ? receipts.trial.value : null;
  const verb = receipts.undoable(r) ? 'undo' : receipts.redoable(r) ? 'redo' : '';
  return html`${r.result === 'compacted' && html`<${Trade} receipt=${r} />`}
    ${r.lines && r.lines.length > 0 && html`<h4>${t('receipt.words')}</h4><ul class="kept">${r.lines.map((line, i) => html`<li key=${i}>${line}</li>`)}</ul>`}
    <${Facts} receipt=${r} id=${id} />
    ${x ? html`<${Trial} trial=${x} receipt=${r} />` : verb && mayWrite.value && html`<div class="acts"><button type="button" class="plain" onClick=${() => receipts.attemptOf(r, verb)}>
      ${icon('restore')}${t(verb === 'undo' ? 'receipt.undo' : 'receipt.redo')}…</button></div>`}`;
}

// Receipt is a card that opens; one that came to nothing says why at once.
function Receipt({ receipt: r, id, open: first, aimed }) {
  const [open, setOpen] = useState(first);
  const el = useRef(null);
  useLayoutEffect(() => {
    if (!aimed) return;
    setOpen(true);
    el.current.scrollIntoView({ block: 'nearest' });
    el.current.querySelector('button').focus({ preventScroll: true });
  }, [aimed]);
  const nothing = r.result !== 'compacted';
  const name = html`${icon(nothing ? 'close' : r.undone ? 'restore' : 'compact')}<span class="name"><b>${receipts.title(r)}</b>${r.undone ? html` <span>· ${t('undone')}</span>` : ''}</span>
    <time datetime=${iso(r.created_at)} title=${whole(r.created_at)}>${clock(r.created_at)}</time>`;
  return html`<li ref=${el} class=${`receipt${r.undone ? ' undone' : ''}${nothing ? ' nothing' : ''}${open ? ' open' : ''}`}>
    ${nothing ? html`<div class="title">${name}</div><p class="brief">${receipts.outcome(r)}</p>${(r.tries || []).map((x, i) => html`<p class="brief" key=${i}>${x.model}: ${receipts.refused(x)}</p>`)}`
    : html`<h3><button type="button" class="title" aria-expanded=${open} onClick=${() => setOpen(!open)}>${name}</button></h3>
      ${open ? html`<div class="inside"><${Inside} receipt=${r} id=${id} /></div>` : html`<p class="brief">${receipts.trade(r)}</p>`}`}</li>`;
}

// Afresh compacts everything, once it is confirmed.
function Afresh() {
  const [sure, setSure] = useState(false);
  const first = useRef(null);
  useLayoutEffect(() => { if (sure) first.current.focus(); }, [sure]);
  const onKeyDown = (e) => { if (e.key === 'Escape') { e.stopPropagation(); setSure(false); } };
  if (!sure) return html`<div class="afresh"><button type="button" class="plain" disabled=${receipts.busy.value} onClick=${() => setSure(true)}>${t('startAfresh')}…</button><p>${t('receipt.afreshHint')}</p></div>`;
  return html`<div class="afresh trial" role="alertdialog" aria-label=${t('startAfresh')} onKeyDown=${onKeyDown}><p>${t('confirmAfresh')}</p><div class="acts">
    <button type="button" class="plain strong" ref=${first} disabled=${receipts.busy.value} onClick=${async () => { await receipts.startAfresh(); setSure(false); }}>${t('yesAfresh')}</button>
    <button type="button" class="plain" onClick=${() => setSure(false)}>${t('cancel')}</button></div></div>`;
}

export function Receipts({ id }) {
  const rs = receipts.receipts.value;
  const aim = receipts.aim.value;
  return html`${rs.length === 0 ? html`<p class="none">${t('noReceipts')}</p>`
    : html`<ol class="receipts">${rs.map((r, i) => { const key = receipts.idOf(r); return html`<${Receipt} key=${key} receipt=${r} id=${id} open=${i === 0 && !aim} aimed=${aim && aim.id === key ? aim : null} />`; })}</ol>`}
    ${mayWrite.value && html`<${Afresh} />`}`;
}
