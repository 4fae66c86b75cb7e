// The header of what is open: its title and facts, the switch between your eyes and the model's,
// and what opens beside it.
import { html, useEffect, useState } from './html.js';
import { Button, icon } from './icons.js';
import { Item, Menu as More } from './menu.js';
import { Rename } from './sidebar.js';
import { titleFor, titleOf } from '../state/conversations.js';
import { day, num } from '../state/figures.js';
import * as keyboard from '../state/keyboard.js';
import { convo } from '../state/api.js';
import { panel, searchOpen, sidebarOpen, togglePanel, toggleSidebar } from '../state/panels.js';
import { href } from '../state/place.js';
import { look, sees } from '../state/sees.js';
import * as thread from '../state/thread.js';
import { t } from '../state/words.js';

// Up leads from a sub-agent to the conversation that it works for.
function Up({ to }) {
  const [title, setTitle] = useState('');
  useEffect(() => { let gone = false; titleFor(to).then((x) => { if (!gone) setTitle(x); }); return () => { gone = true; }; }, [to]);
  return html`<a class="up" href=${href(to)} title=${t('agentOf', title)} aria-label=${t('agentOf', title)}>${icon('back')}<span>${title}</span></a>`;
}

// Switch is the one choice that the page turns on: whose eyes.
function Switch() {
  const of = (whose, name, label) => html`<button type="button" role="radio" aria-checked=${sees.value === whose} tabindex=${sees.value === whose ? 0 : -1}
    onClick=${() => keyboard.run('switch:' + whose) || look(whose)}>${icon(name)}${label}</button>`;
  const onKeyDown = (e) => {
    if (!['ArrowLeft', 'ArrowRight'].includes(e.key)) return;
    e.preventDefault();
    const to = e.currentTarget.querySelector('[aria-checked="false"]');
    to.click();
    to.focus();
  };
  return html`<div class="switch" role="radiogroup" aria-label=${t('frame.eyes')} onKeyDown=${onKeyDown}>
    ${of('you', 'person', t('frame.youSee'))}${of('model', 'eye', t('frame.modelSees'))}</div>`;
}

export const Menu = () => !sidebarOpen.value && html`<${Button} name="menu" label=${t('openSidebar')} onClick=${() => toggleSidebar(true)} />`;

export function Header() {
  const [naming, setNaming] = useState(null);
  const c = thread.conversation.value;
  const rename = c && naming === c.id;
  useEffect(() => keyboard.on('rename', () => setNaming(thread.conversation.value.id)), []);
  return html`<header class="head"><div class="left"><${Menu} />
    <div class="name"><div>${c && c.agent_of && html`<${Up} key=${c.agent_of.id} to=${c.agent_of.id} />`}${rename ? html`<${Rename} of=${c} done=${() => setNaming(null)} />`
      : html`<h1 title=${c ? titleOf(c) : null} onDblClick=${() => c && setNaming(c.id)}>${c ? titleOf(c) : t('newConversation')}</h1>`}</div>
      ${c && !rename && html`<p class="facts">${c.project} · ${t('frame.messages', c.messages, num(c.messages))} · ${t('frame.since', day(c.created_at))}</p>`}</div></div>
    ${c && html`<${Switch} />`}
    <div class="right">
      <${Button} name="search" label=${t('searchHint')} onClick=${() => { searchOpen.value = true; }} />
      ${c && html`<${Button} name="panel" label=${t('frame.receipts')} pressed=${panel.value === 'receipts'} onClick=${() => togglePanel('receipts')} />`}
      ${c && html`<${More} label=${t('frame.more')} button=${icon('more')}>
        <${Item} name="pencil" onClick=${() => setNaming(c.id)}>${t('rename')}<//>
        <${Item} name="export" onClick=${() => { location.href = convo(c.id, '/export'); }}>${t('export')}<//>
      <//>`}
    </div></header>`;
}
