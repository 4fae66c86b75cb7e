// An import: how much of the file is sent, then what came of it and what was skipped; and the two
// places where files can be dropped.
import { html, useEffect, useState } from './html.js';
import { Asked } from './asked.js';
import { icon } from './icons.js';
import { bytes, num, percent } from '../state/figures.js';
import * as conversations from '../state/conversations.js';
import * as imports from '../state/imports.js';
import { question } from '../state/panels.js';
import { href, place } from '../state/place.js';
import { mayWrite } from '../state/session.js';
import { missing } from '../state/thread.js';
import { t } from '../state/words.js';

const MOST = 50; // conversations that are listed

function Entry({ c }) {
  const [title, setTitle] = useState('');
  useEffect(() => { let gone = false; conversations.titleFor(c.id).then((x) => { if (!gone) setTitle(x); }); return () => { gone = true; }; }, [c.id]);
  const [open, setOpen] = useState(false);
  useEffect(() => { let gone = false; imports.unfinished(c.id).then((x) => { if (!gone) setOpen(x); }); return () => { gone = true; }; }, [c.id]);
  const what = c.created ? 'new' : c.messages ? 'grown' : 'same';
  return html`<li><a href=${href(c.id)} onClick=${() => { question.value = null; }}>${icon('page')}<span class="cut">${title || c.id.slice(0, 8)}</span>
    <small class=${what}>${t('side.import.' + what)} · ${t('messages', c.total || c.messages)}${open ? ` · ${t('side.import.open')}` : ''}</small></a></li>`;
}

function Result({ r }) {
  const n = imports.came(r);
  const lines = [n.created && t('side.import.created', n.created), n.grown && t('side.import.extended', n.grown), n.known && t('side.import.known', n.known)].filter(Boolean);
  return html`<p class="outcome">${icon('check')}<span>${lines.join(' · ') || t('side.import.nothing')}<small>${t('side.import.messages', n.messages)}</small></span></p>
    ${r.conversations.length > 0 && html`<ul class="choices">${r.conversations.slice(0, MOST).map((c) => html`<${Entry} key=${c.id} c=${c} />`)}</ul>
      ${r.conversations.length > MOST && html`<p class="quiet">${t('side.import.more', r.conversations.length - MOST)}</p>`}`}
    ${n.skipped > 0 && html`<h3>${t('side.import.skipped', n.skipped)}</h3><table class="skipped"><tbody>${r.skipped.map((b, i) => html`<tr key=${i}><td>${b.line ? t('line', num(b.line)) : ''}</td><td>${b.reason}</td></tr>`)}</tbody></table>
      ${r.more_skipped > 0 && html`<p class="quiet">${t('side.import.moreSkipped', r.more_skipped)}</p>`}`}`;
}

function Job({ j }) {
  const going = j.state === 'sending' || j.state === 'reading';
  const share = j.size ? Math.min(1, j.sent / j.size) : 0;
  return html`<section class="job" aria-live="polite"><p class="file">${icon('page')}<b class="cut">${j.name}</b><small>${bytes(j.size)}</small></p>
    ${going && html`<progress max="1" value=${j.state === 'reading' ? null : share} aria-label=${j.name} />
      <p class="quiet">${j.state === 'reading' ? t('side.import.reading') : t('side.import.sent', bytes(j.sent), bytes(j.size), percent(share))}</p>`}
    ${j.state === 'failed' && html`<p class="fault" role="alert">${j.fault instanceof TypeError ? t('offlineNet') : j.fault.message}</p>
      ${j.fault.code === 'conflict' && html`<p class="acts"><button type="button" class="plain" onClick=${() => imports.copy(j)}>${t('side.import.copy')}</button></p>`}`}
    ${j.result && html`<${Result} r=${j.result} />`}</section>`;
}

// choose asks for files to import, by the button of the sidebar, which is always there.
export const choose = () => document.querySelector('.sidebar .foot input[type=file]').click();

export function Imported() {
  const jobs = imports.jobs();
  const last = jobs[jobs.length - 1];
  const going = last && (last.state === 'sending' || last.state === 'reading');
  useEffect(() => () => imports.close(), []); // what is over is read once
  return html`<${Asked} title=${t('import')} wide>${jobs.map((j, i) => html`<${Job} key=${i} j=${j} />`)}
    <div class="acts">${going ? html`<button type="button" class="plain" onClick=${() => { imports.stop(); question.value = null; }}>${t('stop')}</button>
      <button type="button" class="plain" onClick=${() => { question.value = null; }}>${t('side.import.behind')}</button>`
    : html`<button type="button" class="plain strong" onClick=${() => { question.value = null; }}>${t('close')}</button>`}</div><//>`;
}

// Drops are the two places that show while files are dragged over the page: the sidebar imports
// them, the conversation takes them as attachments; where there is none, all of the page imports.
export function Drops() {
  const [over, setOver] = useState(false);
  const [on, setOn] = useState(false);
  useEffect(() => {
    let depth = 0;
    const files = (e) => mayWrite.value && e.dataTransfer && Array.from(e.dataTransfer.types).includes('Files');
    const enter = (e) => { if (files(e)) { depth++; setOver(true); } };
    const leave = (e) => { if (files(e) && --depth <= 0) { depth = 0; setOver(false); } };
    const move = (e) => { if (files(e)) e.preventDefault(); }; // a file that is dropped beside must not open in place of the page
    const end = (e) => { depth = 0; setOver(false); setOn(false); if (files(e) && !e.defaultPrevented) e.preventDefault(); };
    const all = { dragenter: enter, dragleave: leave, dragover: move, drop: end };
    for (const [name, fn] of Object.entries(all)) addEventListener(name, fn);
    return () => { for (const [name, fn] of Object.entries(all)) removeEventListener(name, fn); };
  }, []);
  if (!over) return null;
  const attaches = place.value.view === 'chat' && !missing.value;
  const drop = (e) => {
    e.preventDefault();
    imports.bring(e.dataTransfer.files, conversations.project.value);
    question.value = { kind: 'import' };
  };
  return html`<div class=${'drops' + (attaches ? '' : ' whole')}>
    <div class=${'drop import' + (on ? ' on' : '')} onDragEnter=${() => setOn(true)} onDragLeave=${() => setOn(false)} onDrop=${drop}>${icon('import')}<b>${t('side.drop.import')}</b><span>${t('side.drop.about')}</span></div>
    ${attaches && html`<div class="drop attach">${icon('attach')}<b>${t('side.drop.attach')}</b></div>`}</div>`;
}
