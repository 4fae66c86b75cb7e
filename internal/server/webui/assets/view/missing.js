// The address of a conversation that is not there, or not for this reader.
import { html } from './html.js';
import { icon } from './icons.js';
import * as keyboard from '../state/keyboard.js';
import { go, viewHref } from '../state/place.js';
import { mayWrite } from '../state/session.js';
import { t } from '../state/words.js';

export const Missing = () => html`<div class="place missing"><div class="empty"><div class="mark">${icon('search')}</div><h2>${t('side.missing')}</h2><p>${t('side.missingAbout')}</p>
  <div class="acts">${mayWrite.value && html`<button type="button" class="plain strong" onClick=${() => go(null)}>${icon('plus')}${t('side.begin')}</button>`}
    <button type="button" class="plain" onClick=${() => keyboard.run('palette')}>${icon('search')}${t('search')}</button>
    <a class="plain" href=${viewHref('trash')}>${icon('trash')}${t('trash')}</a></div></div></div>`;
