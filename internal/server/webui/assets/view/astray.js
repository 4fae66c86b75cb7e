// What is said about a message that was gone to and is not on the current path: that another
// version has it, and how to see it there, or that there is none.
import { html } from './html.js';
import { Button } from './icons.js';
import { readVersion, showVersion } from '../state/branches.js';
import { num } from '../state/figures.js';
import { mayWrite } from '../state/session.js';
import { astray, conversation } from '../state/thread.js';
import { t } from '../state/words.js';

export function Astray() {
  const x = astray.value;
  const c = conversation.value;
  if (!x || !c) return null;
  return html`<div class="banner astray" role="status"><span>${x.branch ? t('thread.elsewhere', num(x.seq)) : t('thread.nowhere', num(x.seq), num(x.head))}</span>
    ${x.branch && html`<button type="button" class="link" onClick=${() => readVersion(x)}>${t('thread.readIt')}</button>
      ${mayWrite.value && html`<button type="button" class="link" onClick=${() => showVersion(x)}>${t('thread.showVersion')}</button>`}`}
    <${Button} name="close" label=${t('close')} onClick=${() => { astray.value = null; }} /></div>`;
}
