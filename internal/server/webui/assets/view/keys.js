// The list of keys, from the one table.
import { html } from './html.js';
import { Dialog } from './dialog.js';
import { Button } from './icons.js';
import { letters, setLetters, spelled, table } from '../state/keyboard.js';
import { keysOpen } from '../state/panels.js';
import { t } from '../state/words.js';

const groups = ['page', 'writing', 'reading'];

const Spelled = ({ name }) => html`<span class="pressed">${spelled(name).split(' ').map((k) => html`<kbd>${k}</kbd>`)}</span>`;

export function Keys() {
  if (!keysOpen.value) return null;
  const close = () => { keysOpen.value = false; };
  return html`<${Dialog} cls="keys" label=${t('keys.title')} onClose=${close}>
    <div class="top"><h2>${t('keys.title')}</h2><${Button} name="close" label=${t('closeEsc')} onClick=${close} /></div>
    <div class="list">${groups.map((g) => html`<section key=${g}><h3>${t('keys.' + g)}</h3><dl>
      ${table.filter((k) => k.group === g).map((k) => html`<div key=${k.name} class=${k.letter && !letters.value ? 'off' : ''}><dt>${t('keys.' + k.name)}</dt><dd><${Spelled} name=${k.name} /></dd></div>`)}</dl></section>`)}</div>
    <label class="letters"><input type="checkbox" role="switch" checked=${letters.value} onChange=${(e) => setLetters(e.currentTarget.checked)} /> ${t('keys.letters')}</label>
  <//>`;
}
