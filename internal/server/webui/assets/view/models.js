// Choosing the model: a list that can be searched, with windows and prices.
import { html, useLayoutEffect, useEffect, useRef, useState } from './html.js';
import { icon } from './icons.js';
import { place } from './menu.js';
import * as models from '../state/models.js';
import { viewHref } from '../state/place.js';
import { mayWrite } from '../state/session.js';
import { t } from '../state/words.js';

const MOST = 60; // lines of the list

const Line = ({ m, i, at, take }) => html`<li id=${`model${i}`} role="option" aria-selected=${i === at} aria-checked=${m === models.current.value} onClick=${() => take(m)}>
  <span class="is">${m === models.current.value && icon('check')}</span>
  <span class="called"><b>${models.called(m)}</b> <span>${models.from(m)}</span></span>
  <span class="span">${models.span(m.limit)}</span><span class="price">${models.price(m)}</span></li>`;

function List({ button, close }) {
  const [words, setWords] = useState('');
  const [at, setAt] = useState(() => Math.max(0, models.models.value.indexOf(models.current.value)));
  const el = useRef(null);
  const all = models.find(words);
  const shown = all.slice(0, MOST);
  useLayoutEffect(() => {
    el.current.showPopover();
    place(el.current, button.current);
    el.current.querySelector('input').focus({ preventScroll: true });
    const away = (e) => { if (!el.current.contains(e.target) && !button.current.contains(e.target)) close(false); };
    const gone = () => close(false);
    addEventListener('pointerdown', away, true);
    addEventListener('resize', gone);
    return () => { removeEventListener('pointerdown', away, true); removeEventListener('resize', gone); };
  }, []);
  useEffect(() => { const line = document.getElementById(`model${at}`); if (line) line.scrollIntoView({ block: 'nearest' }); }, [at]);
  const take = (m) => { close(true); models.choose(m.name); };
  const onKeyDown = (e) => {
    if (e.isComposing || e.keyCode === 229) return;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + 8, PageUp: at - 8 }[e.key];
    if (to !== undefined) setAt(Math.max(0, Math.min(to, shown.length - 1)));
    else if (e.key === 'Enter') { if (shown[at]) take(shown[at]); } else if (e.key === 'Escape') close(true);
    else { if (e.key === 'Tab') close(false); return; }
    e.preventDefault();
    e.stopPropagation();
  };
  return html`<div ref=${el} class="picker" popover="manual" role="dialog" aria-label=${t('composer.models')} onKeyDown=${onKeyDown}>
    <label class="find">${icon('search')}<input type="text" role="combobox" aria-expanded="true" aria-controls="models" aria-autocomplete="list" autocomplete="off" spellcheck="false"
      aria-activedescendant=${shown[at] ? `model${at}` : null} aria-label=${t('composer.findModel')} placeholder=${t('composer.findModel')} value=${words}
      onInput=${(e) => { setWords(e.currentTarget.value); setAt(0); }} /></label>
    <ul id="models" role="listbox" aria-label=${t('composer.models')}>${shown.map((m, i) => html`<${Line} key=${m.name} m=${m} i=${i} at=${at} take=${take} />`)}</ul>
    ${!all.length && html`<p class="quiet">${t('composer.noModel')}</p>`}
    ${all.length > MOST && html`<p class="quiet">${t('composer.more', all.length - MOST)}</p>`}
    <p class="why">${t('composer.pickHint')}</p></div>`;
}

export function Picker() {
  const [open, setOpen] = useState(false);
  const button = useRef(null);
  const m = models.current.value;
  if (!m) return null;
  const small = [m.offline && models.from(m), models.span(m.limit)].filter(Boolean).join(' ');
  const close = (back) => { setOpen(false); if (back) button.current.focus({ preventScroll: true }); };
  return html`<button ref=${button} type="button" class="pill model" aria-haspopup="listbox" aria-expanded=${open} disabled=${!mayWrite.value}
      title=${t('composer.model', m.name)} onClick=${() => setOpen(!open)}><span><span class="unseen">${t('model')} </span>${models.called(m)}</span>
      <small>${small}</small>${icon('caret')}</button>
    ${open && html`<${List} button=${button} close=${close} />`}`;
}

// Offline says what the built-in model is, where it is the one in use.
export function Offline() {
  const m = models.current.value;
  return m && m.offline && html`<p class="hint">${t('composer.offlineModel', m.name)} <a class="link" href=${viewHref('settings', 'models')}>${t('composer.connect')}</a></p>`;
}
