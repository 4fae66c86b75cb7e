// The remotes of the store, for its admins. Syncing itself is done in a terminal, or by sync --watch.
import { html, useEffect } from './html.js';
import { icon } from './icons.js';
import * as remotes from '../state/remotes.js';
import { clock, num } from '../state/figures.js';
import { t } from '../state/words.js';

function Entry({ r }) {
  return html`<li data-remote=${r.remote}><span class="of"><b>${r.remote}</b>
      <small>${r.last_met ? t('remotes.met', clock(r.last_met)) : t('remotes.never')}${r.waiting > 0 && html` · ${t('remotes.waiting', num(r.waiting), r.waiting)}`}</small>
      ${r.error && html`<small class="astray" role="alert">${r.error}</small>`}</span></li>`;
}

export function Remotes() {
  useEffect(() => { remotes.refresh(); }, []);
  const all = remotes.list.value;
  return html`<p class="whereabouts">${icon('web')}${t('set.onServer')}</p><p>${t('remotes.about')}</p>
    ${remotes.wrong.value && html`<p class="astray" role="alert">${remotes.wrong.value}</p>`}
    ${!all && !remotes.wrong.value && html`<p class="quiet" role="status">${t('loading')}</p>`}
    ${all && all.length > 0 && html`<ul class="entries backups">${all.map((r) => html`<${Entry} key=${r.remote} r=${r} />`)}</ul>`}
    ${all && all.length === 0 && html`<p class="nothing">${t('remotes.none')}</p>`}
    <p class="quiet">${t('remotes.how')}</p>`;
}
