// What the next question is asked with: how much the model thinks, whether the web is searched,
// and the instructions of a conversation that is not begun yet.
import { html, useLayoutEffect, useRef } from './html.js';
import { icon } from './icons.js';
import { Item, Menu } from './menu.js';
import { begin, fresh } from '../state/fresh.js';
import { mayWrite } from '../state/session.js';
import * as think from '../state/think.js';
import * as web from '../state/web.js';
import { t } from '../state/words.js';

export function Think() {
  const choices = think.choices.value;
  if (!choices.length) return null;
  const now = think.effort.value;
  const label = now ? t('composer.thinkAt', think.named(now)) : t('composer.think');
  return html`<${Menu} cls=${'pill think' + (now && now !== 'none' ? ' on' : '')} label=${label} disabled=${!mayWrite.value} button=${html`${icon('think')}<span>${label}</span>`}>
    ${choices.map((e) => html`<${Item} key=${e} cls="choice" checked=${e === now} name=${e === now && 'check'} onClick=${() => think.choose(e)}>${think.named(e)}<//>`)}<//>`;
}

export function Web() {
  if (!web.available.value) return null;
  return html`<button type="button" class=${'pill web' + (web.on.value ? ' on' : '')} aria-label=${t('composer.web')} title=${t(web.on.value ? 'webOn' : 'webOff')} aria-pressed=${web.on.value} disabled=${!mayWrite.value}
    onClick=${() => { web.on.value = !web.on.value; }}>${icon('web')}<span>${t('composer.web')}</span></button>`;
}

// Instruct opens the field for instructions.
export const Instruct = ({ open, toggle }) => html`<button type="button" class=${'pill instruct' + (fresh.value.instructions ? ' on' : '')} aria-expanded=${open} aria-label=${t('composer.addInstructions')} disabled=${!mayWrite.value}
  onClick=${toggle}>${icon('book')}<span>${t('composer.addInstructions')}</span></button>`;

export function Instructions() {
  const box = useRef(null);
  useLayoutEffect(() => { if (!box.current.value) box.current.focus({ preventScroll: true }); }, []);
  return html`<label class="instructing"><span>${t('composer.instructions')} <small>${t('composer.instructionsHint')}</small></span>
    <textarea ref=${box} class="field" rows="2" value=${fresh.value.instructions || ''} onInput=${(e) => begin({ instructions: e.currentTarget.value })} /></label>`;
}
