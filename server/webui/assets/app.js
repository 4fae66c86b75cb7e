// The page: its parts, and what holds them together.
import { effect, html, render, untracked, useState } from './html.js';
import { convo } from './api.js';
import * as branches from './branches.js';
import { Chat } from './chat.js';
import * as context from './context.js';
import { ContextMap } from './contextmap.js';
import { refresh, titleOf } from './conversations.js';
import { Button, icon } from './icons.js';
import { place } from './place.js';
import { Reader } from './reader.js';
import { Search } from './search.js';
import { Rename, Sidebar } from './sidebar.js';
import * as thread from './thread.js';
import * as turn from './turn.js';
import { banner, covers, hush, mapOpen, narrow, reading, searchOpen, sidebarOpen, toast, toggleMap, toggleSidebar } from './ui.js';
import { lang, num, t } from './words.js';

function Header() {
  const [naming, setNaming] = useState(null);
  const c = thread.conversation.value;
  const m = context.manifest.value;
  const share = m && m.budget ? Math.min(1, m.tokens / m.budget) : 0;
  return html`<header class="head">
    ${!sidebarOpen.value && html`<${Button} name="menu" label=${t('openSidebar')} onClick=${() => toggleSidebar(true)} />`}
    <div class="name">${c && naming === c.id ? html`<${Rename} of=${c} done=${() => setNaming(null)} />`
      : html`<h1 title=${c ? titleOf(c) : null} onDblClick=${() => c && setNaming(c.id)}>${c ? titleOf(c) : t('newConversation')}</h1>`}
      ${c && naming !== c.id && html`<${Button} name="pencil" cls="soft" label=${t('rename')} onClick=${() => setNaming(c.id)} />`}</div>
    ${c && m && html`<button type="button" class="gauge" title=${`${t('ofBudget', num(m.tokens), num(m.budget))} · ${t('limit')} ${num(m.limit)} (${t('from.' + m.limit_from)})`} onClick=${() => toggleMap()}>
      <span class="model">${m.model} · ${num(m.limit)}</span><meter min="0" max="1" value=${share} aria-label=${t('budget')} /></button>`}
    ${c && html`<a class="ghost" href=${convo(c.id, '/export')} download title=${t('exportHint')} aria-label=${t('exportHint')}>${icon('export')}</a>`}
    <${Button} name="search" label=${t('searchHint') + ' (Ctrl K)'} onClick=${() => { searchOpen.value = true; }} />
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

function App() {
  const shade = () => { if (narrow()) toggleSidebar(false); if (covers()) toggleMap(false); };
  const map = mapOpen.value && thread.conversation.value !== null;
  return html`<div class=${`page${sidebarOpen.value ? ' with-sidebar' : ''}${map ? ' with-map' : ''}`}>
    <${Sidebar} />
    <main><${Header} /><${Banner} /><${Chat} /></main>
    ${map && html`<${ContextMap} />`}
    <div class="shade" onClick=${shade} />
  </div><${Search} /><${Reader} /><${Toast} />`;
}

// move shows the place that the address names, and reads on in a turn that runs there.
async function move({ id, seq, settled }) {
  if (settled) return;
  hush();
  if (narrow()) toggleSidebar(false);
  const c = thread.conversation.value;
  const r = turn.running.value;
  const stays = c && r && c.id === id && r.conversation === id;
  if (!stays) turn.leave();
  if (!id) { thread.close(); return; }
  const opened = await thread.open(id, seq);
  if (opened && opened.running && !stays) turn.attach(opened.id, opened.running);
}

place.subscribe((to) => { untracked(() => move(to)); });
effect(() => { document.documentElement.lang = lang.value === 'zh' ? 'zh-CN' : 'en'; });
effect(() => { const c = thread.conversation.value; document.title = c ? `${titleOf(c)} · scrollback` : 'scrollback'; });

// again looks once more at a context that was near its budget: it may have been folded since.
function again(id) {
  const m = context.manifest.value;
  const c = thread.conversation.value;
  if (m && c && c.id === id && m.conversation_id === id && m.tokens > 0.6 * m.budget && !turn.running.value) context.look(id);
}

// The context is looked at when another conversation opens and whenever a turn ends.
let looked = null;
effect(() => {
  const id = thread.conversation.value && thread.conversation.value.id;
  const n = turn.ended.value;
  const key = `${id} ${n}`;
  if (key === looked) return;
  const after = looked !== null && n > 0 && looked.split(' ')[0] === String(id);
  looked = key;
  untracked(() => {
    context.look(id);
    branches.look(id);
    if (after) { thread.reread(); refresh(); setTimeout(again, 1500, id); }
  });
});

// A turn that begins moves its conversation to the top of the list, and may give it a title.
effect(() => { if (turn.begun.value) untracked(() => { thread.reread(); refresh(); }); });

addEventListener('keydown', (e) => {
  if (e.isComposing) return;
  if ((e.metaKey || e.ctrlKey) && !e.shiftKey && !e.altKey && e.key.toLowerCase() === 'k') {
    e.preventDefault();
    if (!reading.value) searchOpen.value = !searchOpen.value;
  } else if (e.key === 'Escape' && !document.querySelector('dialog[open]')) {
    if (toast.value) toast.value = null;
    else if (banner.value) banner.value = null;
    else if (narrow() && sidebarOpen.value) toggleSidebar(false);
    else if (covers() && mapOpen.value) toggleMap(false);
  }
});

refresh();
render(html`<${App} />`, document.getElementById('app'));
