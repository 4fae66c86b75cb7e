// The backups of the whole store, for its admins. Restoring one is done in a terminal, into another folder.
import { html, useEffect } from './html.js';
import { icon } from './icons.js';
import * as backups from '../state/backups.js';
import { bytes, clock, num } from '../state/figures.js';
import { t } from '../state/words.js';

const holds = (x) => t('backups.holds', num(x.conversations), num(x.messages), x.conversations, x.messages);

function Entry({ b, busy }) {
  const seen = backups.seen.value[b.name];
  const reading = backups.running.value === b.name;
  return html`<li data-backup=${b.name}><span class="of"><b>${clock(b.made_at)}</b>
      <small>${bytes(b.bytes)}${b.encrypted && html` · ${t('backups.encrypted')}`}</small><small><code>${b.name}</code></small>
      ${reading && html`<small class="quiet" role="status">${t('backups.reading')}</small>`}
      ${seen && seen.contents && html`<small class="whole" role="status">${t('backups.whole', holds(seen.contents))}</small>`}
      ${seen && seen.wrong && html`<small class="astray" role="alert">${seen.wrong}</small>`}</span>
    <button type="button" class="plain" disabled=${busy} aria-label=${t('backups.verifyOf', b.name)} onClick=${() => backups.verify(b.name)}>${t('backups.verify')}</button></li>`;
}

const days = (ms) => Math.round(ms / 86400000);

function Facts({ s }) {
  const last = s.backups[0];
  const facts = [['backups.last', last ? `${clock(last.made_at)} · ${bytes(last.bytes)}` : t('backups.never')], ['backups.to', s.to],
    ['backups.nightly', t('backups.every', s.at)], ['backups.keep', days(s.keep_ms) ? t('backups.days', num(days(s.keep_ms)), days(s.keep_ms)) : t('backups.hours', num(Math.round(s.keep_ms / 3600000)))],
    ['backups.encryption', t(s.encrypt ? 'set.on' : 'set.off')]];
  return html`<dl class="facts-of">${facts.map(([k, v]) => html`<div key=${k}><dt>${t(k)}</dt><dd>${v}</dd></div>`)}</dl>`;
}

export function Backups() {
  useEffect(() => { backups.refresh(); return backups.leave; }, []);
  const s = backups.standing.value;
  const made = backups.made.value;
  const busy = Boolean(backups.running.value || (s && s.running));
  const creating = backups.running.value === 'create' || (s && s.running === 'create');
  return html`<p class="whereabouts">${icon('web')}${t('set.onServer')}</p><p>${t('backups.about')}</p>
    ${backups.unset.value && html`<p>${t('backups.unset')}</p><pre><code>${'[backup]\nto = "/mnt/disk/scrollback"\nkeep = "30d"\nat = "03:00"'}</code></pre>`}
    ${backups.wrong.value && html`<p class="astray" role="alert">${backups.wrong.value}</p>`}
    ${!s && !backups.unset.value && !backups.wrong.value && html`<p class="quiet" role="status">${t('loading')}</p>`}
    ${s && !backups.unset.value && html`<${Facts} s=${s} />
      <div class="acts"><button type="button" class="plain strong" data-do="create" disabled=${busy} onClick=${backups.create}>${t('backups.create')}</button></div>
      ${creating && html`<p class="quiet" role="status">${t('backups.creating')}</p>`}
      ${!creating && made && html`<p class="done" role="status">${t('backups.made', bytes(made.bytes), holds(made))}</p>`}
      ${s.backups.length > 0 ? html`<ul class="entries backups">${s.backups.map((b) => html`<${Entry} key=${b.name} b=${b} busy=${busy} />`)}</ul>` : html`<p class="nothing">${t('backups.none')}</p>`}
      <p class="quiet">${t('backups.restoreAbout')}</p>`}`;
}
