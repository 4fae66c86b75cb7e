// The page: its header, what stands beside the conversation, and what lies over it.
import { html, useEffect, useState } from './html.js';
import { convo } from '../state/api.js';
import * as context from '../state/context.js';
import { titleFor, titleOf } from '../state/conversations.js';
import { num } from '../state/figures.js';
import { banner, hush, toast } from '../state/notices.js';
import { covers, mapOpen, narrow, searchOpen, sidebarOpen, toggleMap, toggleSidebar } from '../state/panels.js';
import { href } from '../state/place.js';
import { locked } from '../state/session.js';
import * as thread from '../state/thread.js';
import { t } from '../state/words.js';
import { Chat } from './chat.js';
import { ContextMap } from './contextmap.js';
import { Button, icon } from './icons.js';
import { Reader } from './reader.js';
import { Search } from './search.js';
import { Rename, Sidebar } from './sidebar.js';
import { SignIn } from './signin.js';

// Up leads from a sub-agent to the conversation that it works for.
function Up({ to }) {
  const [title, setTitle] = useState('');
  useEffect(() => { let gone = false; titleFor(to).then((x) => { if (!gone) setTitle(x); }); return () => { gone = true; }; }, [to]);
  return html`<a class="up" href=${href(to)} title=${t('agentOf', title)} aria-label=${t('agentOf', title)}>${icon('back')}<span>${title}</span></a>`;
}

function Header() {
  const [naming, setNaming] = useState(null);
  const c = thread.conversation.value;
  const m = context.manifest.value;
  const share = m && m.budget ? Math.min(1, m.tokens / m.budget) : 0;
  return html`<header class="head">
    ${!sidebarOpen.value && html`<${Button} name="menu" label=${t('openSidebar')} onClick=${() => toggleSidebar(true)} />`}
    <div class="name">${c && c.agent_of && html`<${Up} key=${c.agent_of.id} to=${c.agent_of.id} />`}${c && naming === c.id ? html`<${Rename} of=${c} done=${() => setNaming(null)} />`
      : html`<h1 title=${c ? titleOf(c) : null} onDblClick=${() => c && setNaming(c.id)}>${c ? titleOf(c) : t('newConversation')}</h1>`}
      ${c && naming !== c.id && html`<${Button} name="pencil" cls="soft" label=${t('rename')} onClick=${() => setNaming(c.id)} />`}</div>
    ${c && m && html`<button type="button" class="gauge" title=${`${t('ofBudget', num(m.tokens), num(m.budget))} · ${t('limit')} ${num(m.limit)} (${t('from.' + m.limit_from)})`} onClick=${() => toggleMap()}>
      <span class="model">${m.model} · ${num(m.limit)}</span><meter min="0" max="1" value=${share} aria-label=${t('budget')} /></button>`}
    ${c && html`<a class="ghost" href=${convo(c.id, '/export')} download title=${t('exportHint')} aria-label=${t('exportHint')}>${icon('export')}</a>`}
    <${Button} name="search" label=${t('searchHint')} onClick=${() => { searchOpen.value = true; }} />
    ${c && html`<${Button} name="map" label=${mapOpen.value ? t('closeMap') : t('openMap')} pressed=${mapOpen.value} onClick=${() => toggleMap()} />`}
  </header>`;
}

function Banner() {
  const b = banner.value;
  if (!b) return null;
  return html`<div class="banner" role="alert"><span>${b.text || t('offlineNet')}</span><${Button} name="close" label=${t('close')} onClick=${hush} /></div>`;
}

function Toast() {
  const x = toast.value;
  return html`<div class="toasts" role="status" aria-live="polite">${x && x.text && html`<div class="toast"><span>${x.text}</span>
    ${x.action && html`<button type="button" class="link" onClick=${() => { toast.value = null; x.run(); }}>${x.action}</button>`}
    <${Button} name="close" label=${t('close')} onClick=${() => { toast.value = null; }} /></div>`}</div>`;
}

export function Page() {
  if (locked.value) return html`<${SignIn} />`;
  const shade = () => { if (narrow()) toggleSidebar(false); if (covers()) toggleMap(false); };
  const map = mapOpen.value && thread.conversation.value !== null;
  return html`<div class=${`page${sidebarOpen.value ? ' with-sidebar' : ''}${map ? ' with-map' : ''}`}>
    <${Sidebar} />
    <main><${Header} /><${Banner} /><${Chat} /></main>
    ${map && html`<${ContextMap} />`}
    <div class="shade" onClick=${shade} />
  </div><${Search} /><${Reader} /><${Toast} />`;
}
