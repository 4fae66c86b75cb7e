// What is searched: everything, this conversation, its lines, or commands; and which messages.
import { html, useEffect, useState } from './html.js';
import { icon } from './icons.js';
import { Item, Menu } from './menu.js';
import { api } from '../state/api.js';
import { attempt } from '../state/notices.js';
import { roleName } from '../state/message.js';
import { match, mode, narrow, only, turn } from '../state/search.js';
import { conversation } from '../state/thread.js';
import { t } from '../state/words.js';

const DAY = 86400000;
const year = (y) => ({ from: new Date(y, 0, 1).getTime(), to: new Date(y + 1, 0, 1).getTime(), when: String(y) });
const last = (n) => ({ from: new Date().setHours(0, 0, 0, 0) - (n - 1) * DAY, to: 0, when: t('palette.last', n) });

// Chosen is a filter that is set, and goes with its cross.
const Chosen = ({ label, off }) => html`<button type="button" class="chip on" aria-label=${t('palette.remove', label)} onClick=${off}>${label}${icon('close')}</button>`;

const Choice = ({ label, options, pick }) => html`<${Menu} label=${label} cls="chip" button=${html`${label}${icon('caret')}`}>
  ${options.map(([value, name]) => html`<${Item} key=${name} onClick=${() => pick(value)}>${name}<//>`)}<//>`;

// Dates are two days; the second is included.
function Dates({ done }) {
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const put = (a, b) => {
    const begin = a ? new Date(`${a}T00:00`).getTime() : 0;
    const end = b ? new Date(new Date(`${b}T00:00`).getTime() + 36 * 3600000).setHours(0, 0, 0, 0) : 0;
    if (end && begin >= end) return;
    narrow({ from: begin, to: end, when: begin || end ? `${a || '…'} – ${b || '…'}` : '' });
  };
  return html`<span class="dates"><label>${t('palette.from')} <input type="date" value=${from} max=${to || null} onChange=${(e) => { setFrom(e.currentTarget.value); put(e.currentTarget.value, to); }} /></label>
    <label>${t('palette.to')} <input type="date" value=${to} min=${from || null} onChange=${(e) => { setTo(e.currentTarget.value); put(from, e.currentTarget.value); }} /></label>
    <button type="button" class="chip" aria-label=${t('close')} onClick=${done}>${icon('close')}</button></span>`;
}

function Messages() {
  const [projects, setProjects] = useState([]);
  const [asking, ask] = useState(false);
  useEffect(() => { let gone = false; attempt(() => api.listProjects()).then((p) => { if (p && !gone) setProjects(p.projects.map((x) => x.name)); }); return () => { gone = true; }; }, []);
  const f = only.value;
  const now = new Date().getFullYear();
  const when = (v) => { if (v) narrow(v()); else ask(true); };
  return html`<span class="bar-line" aria-hidden="true" />
    ${asking ? html`<${Dates} done=${() => { ask(false); narrow({ from: 0, to: 0, when: '' }); }} />`
      : f.when ? html`<${Chosen} label=${f.when} off=${() => narrow({ from: 0, to: 0, when: '' })} />`
        : html`<${Choice} label=${t('palette.anyTime')} pick=${when} options=${[[() => last(7), t('palette.last', 7)], [() => last(30), t('palette.last', 30)],
          [() => year(now), String(now)], [() => year(now - 1), String(now - 1)], [null, t('palette.dates')]]} />`}
    ${mode.value === 'everywhere' && (f.project ? html`<${Chosen} label=${f.project} off=${() => narrow({ project: '' })} />`
      : projects.length > 1 && html`<${Choice} label=${t('palette.project')} pick=${(project) => narrow({ project })} options=${projects.map((p) => [p, p])} />`)}
    ${f.role ? html`<${Chosen} label=${roleName(f.role)} off=${() => narrow({ role: '' })} />`
      : html`<${Choice} label=${t('palette.role')} pick=${(role) => narrow({ role })} options=${['user', 'assistant', 'tool', 'system'].map((r) => [r, roleName(r)])} />`}`;
}

export function Filters({ said }) {
  const c = conversation.value;
  const modes = [['everywhere', t('everywhere')], ...(c ? [['here', t('here')], ['lines', t('lines')]] : []), ['commands', t('palette.commands')]];
  const on = (to) => html`<button type="button" role="radio" class="chip" key=${to[0]} aria-checked=${mode.value === to[0]} tabindex=${mode.value === to[0] ? 0 : -1} onClick=${() => turn(to[0])}>${to[1]}</button>`;
  const onKeyDown = (e) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (!by) return;
    e.preventDefault();
    const to = (modes.findIndex(([m]) => m === mode.value) + by + modes.length) % modes.length;
    turn(modes[to][0]);
    e.currentTarget.children[to].focus();
  };
  return html`<div class="filters"><span class="chips"><span class="chips" role="radiogroup" aria-label=${t('palette.scope')} onKeyDown=${onKeyDown}>${modes.map(on)}</span>
      ${(mode.value === 'everywhere' || mode.value === 'here') && html`<${Messages} />`}
      ${mode.value === 'lines' && html`<label class="case"><input type="checkbox" checked=${match.value} onChange=${(e) => { match.value = e.currentTarget.checked; }} /> ${t('caseSensitive')}</label>`}</span>
    <span class="count" role="status" aria-live="polite">${said}</span></div>`;
}
