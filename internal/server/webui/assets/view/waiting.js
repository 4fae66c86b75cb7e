// Messages that wait to be sent, and what kept one from it.
import { html } from './html.js';
import { Button, icon } from './icons.js';
import { reopen, trouble } from '../state/draft.js';
import { down } from '../state/line.js';
import * as queue from '../state/queue.js';
import { running } from '../state/turn.js';
import { t } from '../state/words.js';

function Row({ row }) {
  const waits = running.value !== null;
  return html`<li class=${waits ? '' : 'held'}><p><span>${t(waits ? 'composer.queued' : 'composer.held')}</span> ${row.text || t('composer.files', row.files.length)}
      ${!waits && row.why && html` <span>${row.why}</span>`}</p>
    ${!waits && html`<button type="button" class="link" onClick=${() => queue.send(row.key)}>${t('composer.sendNow')}</button>`}
    <${Button} name="pencil" label=${t('composer.editIt')} onClick=${() => reopen(row.key)} />
    <${Button} name="close" label=${t('composer.removeIt')} onClick=${() => queue.take(row.key)} /></li>`;
}

export const Waiting = () => queue.rows.value.length > 0 && html`<ol class="waiting" aria-label=${t('composer.queue')}>
  ${queue.rows.value.map((row) => html`<${Row} key=${row.key} row=${row} />`)}</ol>`;

// Trouble says why nothing was sent, or that nobody responds.
export function Trouble({ retry }) {
  const x = trouble.value;
  if (!x) return down.value && html`<p class="unsent" role="status">${icon('warning')}<span>${t('composer.offline')}</span></p>`;
  return html`<p class="unsent" role="alert">${icon('warning')}<span>${x.text ? t('composer.refused', x.text) : t('composer.unsent')}</span>
    <button type="button" class="link" onClick=${retry}>${t('composer.retry')}</button></p>`;
}
