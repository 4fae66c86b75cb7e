// What stands beside the conversation, or over it where there is no room: its receipts, what is kept of it, or
// what it is run with.
import { Carried } from './carried.js';
import { html } from './html.js';
import { Button } from './icons.js';
import { CompactNow, Receipts } from './receipts.js';
import { Form } from './settings.js';
import { panel } from '../state/panels.js';
import { mayWrite } from '../state/session.js';
import { conversation } from '../state/thread.js';
import { t } from '../state/words.js';

export function Panel() {
  const c = conversation.value;
  const receipts = panel.value === 'receipts';
  const kept = panel.value === 'kept';
  const name = t(receipts ? 'receipts' : kept ? 'carried' : 'setup');
  const close = () => { panel.value = null; };
  return html`<aside class="panel" aria-label=${name}>
    <div class="top"><h2>${name}</h2>${receipts && mayWrite.value && html`<${CompactNow} />`}<${Button} name="close" label=${t('receipt.close', name)} onClick=${close} /></div>
    <div class="sections">${receipts ? html`<${Receipts} key=${c.id} id=${c.id} />` : kept ? html`<${Carried} key=${c.id} id=${c.id} />` : html`<${Form} key=${c.id} c=${c} done=${close} />`}</div>
  </aside>`;
}
