// The header of what is open: its title and facts, the switch between your eyes and the model's,
// and what opens beside it.
import { html, useEffect, useState } from './html.js';
import { Acts, fork } from './acts.js';
import { Button, icon } from './icons.js';
import { Item, Menu as More } from './menu.js';
import { Rename } from './rename.js';
import * as branches from '../state/branches.js';
import * as conversations from '../state/conversations.js';
import { isPinned, placeOf, restore, titleFor, titleOf, toolOf } from '../state/conversations.js';
import { clock, day, num } from '../state/figures.js';
import * as keyboard from '../state/keyboard.js';
import { panel, sidebarOpen, togglePanel, toggleSidebar } from '../state/panels.js';
import { shape } from '../state/minimap.js';
import { href, viewHref } from '../state/place.js';
import * as projects from '../state/projects.js';
import { look, sees } from '../state/sees.js';
import { mayWrite } from '../state/session.js';
import * as thread from '../state/thread.js';
import { running } from '../state/turn.js';
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

// Versions are the branches of the conversation, and copying it.
function Versions({ c }) {
  const all = branches.branches.value;
  const label = all.length > 1 ? t('side.versions', all.length) : t('side.fork');
  const busy = Boolean(running.value);
  return html`<${More} cls="ghost versions-of" label=${label} button=${icon('fork')}>${() => html`
    ${mayWrite.value && html`<${Item} name="fork" onClick=${() => fork(c)}>${t('side.fork')}<//>`}
    ${all.length > 1 && html`<hr />${all.map((b, i) => html`<${Item} key=${b.id} checked=${b.current} disabled=${busy || !mayWrite.value} onClick=${() => !b.current && branches.switchTo(b)}>
      <span>${t('side.version', i + 1)}${b.at_seq > 0 || b.parent ? html`<small>${t('side.since', num(b.at_seq + 1))}</small>` : ''}</span><small>${t('messages', b.head_seq)} · ${clock(b.updated_at)}</small><//>`)}`}`}<//>`;
}

// Home is the project that a new conversation goes into.
function Home() {
  const at = conversations.project.value;
  const list = projects.list.value;
  const p = list.find((x) => x.name === (at || 'default'));
  const name = p ? projects.nameOf(p) : at || 'default';
  return html`<${More} cls="ghost text home" label=${t('side.goesInto', name)} onOpen=${projects.refresh} button=${html`<span class="cut">${name}</span>${icon('caret')}`}>
    ${() => list.map((x) => html`<${Item} key=${x.name} checked=${x === p} onClick=${() => conversations.setProject(x.name)}><span class="cut">${projects.nameOf(x)}</span><small>${num(x.conversations)}</small><//>`)}<//>`;
}

const Tools = ({ children }) => html`<div class="right">${children}</div>`;
const Search = () => html`<${Button} name="search" label=${t('side.search')} onClick=${() => keyboard.run('palette')} />`;

function Fresh() {
  return html`<header class="head"><div class="left"><${Menu} /><h1 class="unseen">${t('newConversation')}</h1><${Home} /></div><span />
    <${Tools}><${Search} /><a class="ghost" href=${viewHref('settings')} aria-label=${t('side.settings')} title=${t('side.settings')}>${icon('tune')}</a><//></header>`;
}

// Trashed says that what is open is in the trash.
const Trashed = ({ c }) => html`<div class="banner trashed" role="status"><span>${t('side.inTrash')}</span>
  ${mayWrite.value && html`<button type="button" class="link" onClick=${async () => { if (await restore(c)) thread.reread(); }}>${t('restore')}</button>`}</div>`;

// began is when a conversation's first message was said: of an imported one, before it was here.
const began = (c) => Math.min(c.created_at, (shape.value && shape.value.from) || c.created_at);

export function Header() {
  const [naming, setNaming] = useState(null);
  const c = thread.conversation.value;
  useEffect(() => keyboard.on('rename', () => setNaming(thread.conversation.value.id)), []);
  if (!c) return html`<${Fresh} />`;
  const rename = naming === c.id;
  const begin = () => { if (mayWrite.value) setNaming(c.id); };
  const said = Math.max(c.messages, thread.head.value);
  const tool = toolOf(c);
  const facts = html`<a class="facts" href=${viewHref('projects', c.project)} title=${t('side.projectOf', c.project)}>${c.project}</a><p class="facts"> · ${tool && html`<span title=${placeOf(c)}>${tool}</span> · `}${t('frame.messages', said, num(said))} · ${t('frame.since', day(began(c)))}</p>`;
  return html`<header class="head"><div class="left"><${Menu} />
    <div class="name"><div>${c.agent_of && html`<${Up} key=${c.agent_of.id} to=${c.agent_of.id} />`}${rename ? html`<${Rename} of=${c} done=${() => setNaming(null)} />`
      : html`<h1 title=${titleOf(c)} onDblClick=${begin}>${titleOf(c)}</h1>${isPinned(c.id) && html`<span class="pinned" title=${t('side.pinned')}>${icon('pin')}</span>`}
        ${mayWrite.value && html`<${Button} name="pencil" cls="small" label=${t('rename')} onClick=${begin} />`}`}</div>
      ${!rename && html`<div class="meta">${facts}</div>`}</div></div>
    <${Switch} />
    <${Tools}><${Search} /><${Versions} c=${c} />
      <${Button} name="panel" cls="receipts-of" label=${t('frame.receipts')} pressed=${panel.value === 'receipts'} onClick=${() => togglePanel('receipts')} />
      <${More} label=${t('frame.more')} button=${icon('more')}>${() => html`<${Item} name="lines" onClick=${() => togglePanel('kept')}>${t('carried')}<//><span class="phone"><${Item} name="panel" onClick=${() => togglePanel('receipts')}>${t('frame.receipts')}<//></span><${Acts} c=${c} here naming=${begin} />`}<//><//></header>
    ${c.deleted_at > 0 && html`<${Trashed} c=${c} />`}`;
}

// Head is the header of what is beside the conversations.
export const Head = ({ title, children }) => html`<header class="head plainly"><div class="left"><${Menu} /><h1>${title}</h1></div><span /><${Tools}>${children}<//></header>`;
