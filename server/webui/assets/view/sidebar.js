// The conversations, newest first; new ones, imports, the trash.
import { html, useEffect, useRef, useState } from './html.js';
import { Button, icon } from './icons.js';
import { agentsOf, isOpen, toggle } from '../state/agents.js';
import * as conversations from '../state/conversations.js';
import { ago, iso, num, whole } from '../state/figures.js';
import { searchOpen, toggleSidebar } from '../state/panels.js';
import { go, href } from '../state/place.js';
import { named, signOut, who } from '../state/session.js';
import { nextTheme, theme } from '../state/theme.js';
import { conversation, reread } from '../state/thread.js';
import { lang, setLang, t } from '../state/words.js';

// Rename is a title being written: Enter keeps it, Esc and leaving without a change do not.
export function Rename({ of: c, done }) {
  const input = useRef(null);
  const over = useRef(false);
  useEffect(() => { input.current.focus(); input.current.select(); }, []);
  const end = async (keep) => {
    if (over.current) return;
    over.current = true;
    const title = input.current.value.trim();
    if (keep && title !== c.title && await conversations.rename(c, title)) reread();
    done();
  };
  return html`<input class="rename" ref=${input} value=${c.title} maxlength="200" aria-label=${t('rename')} onBlur=${() => end(true)}
    onKeyDown=${(e) => {
      if (e.isComposing) return;
      if (e.key === 'Enter') end(true);
      if (e.key === 'Escape') { e.stopPropagation(); end(false); }
    }} />`;
}

async function toTrash(c) {
  if (await conversations.trash(c) && conversation.value && conversation.value.id === c.id) go(null);
}

// leads says whether one of the agents of c, or of theirs, is open.
const leads = (id, here, depth = 4) => depth > 0 && agentsOf(id).some((a) => a.id === here || leads(a.id, here, depth - 1));

function Agents({ of: c, here, now }) {
  const below = agentsOf(c.id);
  const lead = leads(c.id, here);
  useEffect(() => { if (lead) toggle(c.id, true); }, [lead]);
  if (!below.length) return null;
  const shown = isOpen(c.id);
  return html`<li class="below"><button type="button" class="count" aria-expanded=${shown} onClick=${() => toggle(c.id)}>${icon('chevron')}${t('agents', below.length)}</button>
    ${shown && html`<ul>${below.map((a) => html`<${Row} key=${a.id} c=${a} here=${here} now=${now} />`)}</ul>`}</li>`;
}

function Row({ c, here: at, trashed, now }) {
  const [naming, setNaming] = useState(false);
  const here = c.id === at;
  const about = html`<span class="about"><time datetime=${iso(c.updated_at)} title=${whole(c.updated_at)} data-now=${now}>${ago(c.updated_at)}</time>
    <span title=${t('messages', c.messages)}>${num(c.messages)}</span>${c.project !== 'default' && html`<span class="project">${c.project}</span>`}</span>`;
  if (naming) return html`<li class="row naming"><${Rename} of=${c} done=${() => setNaming(false)} />${about}</li>`;
  const title = conversations.titleOf(c);
  return html`<li class=${'row' + (here ? ' here' : '')}>
    <a href=${href(c.id)} aria-current=${here ? 'page' : null} title=${title} onDblClick=${(e) => { e.preventDefault(); setNaming(true); }}><span class="title">${title}</span>${about}</a>
    <span class="tools">${trashed
      ? html`<${Button} name="restore" label=${t('restore')} onClick=${() => conversations.restore(c)} />`
      : html`<${Button} name="pencil" label=${t('rename')} onClick=${() => setNaming(true)} /><${Button} name="trash" label=${t('toTrash')} onClick=${() => toTrash(c)} />`}</span>
  </li>${!trashed && html`<${Agents} of=${c} here=${at} now=${now} />`}`;
}

function Rows() {
  const [now, tick] = useState(0);
  useEffect(() => { const id = setInterval(() => tick((n) => n + 1), 60000); return () => clearInterval(id); }, []);
  const here = conversation.value && conversation.value.id;
  const items = conversations.list.value;
  const trashed = conversations.inTrash.value;
  if (!items.length && conversations.loaded.value) return html`<p class="none">${conversations.filter.value ? t('noMatch') : trashed ? t('trashEmpty') : t('noneYet')}</p>`;
  return html`<ul>${items.map((c) => html`<${Row} key=${c.id} c=${c} here=${here} trashed=${trashed} now=${now} />`)}</ul>
    ${conversations.cursor.value && html`<button type="button" class="wide" onClick=${conversations.more}>${t('loadMore')}</button>`}`;
}

const themeIcon = { auto: 'half', light: 'sun', dark: 'moon' };

export function Sidebar() {
  const file = useRef(null);
  const bring = async (e) => {
    const [f] = e.currentTarget.files;
    e.currentTarget.value = '';
    const id = f && await conversations.bring(f);
    if (id) go(id);
  };
  const trashed = conversations.inTrash.value;
  return html`<nav class="sidebar" aria-label=${t('conversations')}>
    <div class="top"><a class="brand" href="#">scrollback</a>
      <${Button} name="search" label=${t('searchHint')} onClick=${() => { searchOpen.value = true; }} />
      <${Button} name="menu" label=${t('closeSidebar')} onClick=${() => toggleSidebar(false)} /></div>
    <button type="button" class="new" onClick=${() => go(null)}>${icon('plus')} ${t('newConversation')}</button>
    <label class="filter">${icon('search')}<input type="search" value=${conversations.filter.value} placeholder=${t('filter')} aria-label=${t('filter')}
      onInput=${(e) => conversations.setFilter(e.currentTarget.value)} /></label>
    ${trashed && html`<button type="button" class="back" onClick=${() => conversations.showTrash(false)}>${icon('back')} ${t('backToList')}<b>${t('trash')}</b></button>`}
    <div class="rows"><${Rows} /></div>
    ${named.value && html`<div class="whose"><span title=${t('signedIn', who.value.name)}>${who.value.name}</span>
      <button type="button" class="link" onClick=${signOut}>${t('signOut')}</button></div>`}
    <div class="foot">
      <input ref=${file} type="file" hidden onChange=${bring} accept=".bundle,.jsonl,.ndjson,.json,.txt" aria-label=${t('importHint')} />
      <button type="button" class="ghost text" title=${t('importHint')} onClick=${() => file.current.click()}>${icon('import')} ${t('import')}</button>
      <${Button} name="trash" label=${t('trash')} pressed=${trashed} onClick=${() => conversations.showTrash(!trashed)} />
      <span class="gap" />
      <button type="button" class="ghost text" title=${t('languageHint')} lang=${lang.value === 'zh' ? 'en' : 'zh-CN'} onClick=${() => setLang(lang.value === 'zh' ? 'en' : 'zh')}>${t('language')}</button>
      <${Button} name=${themeIcon[theme.value]} label=${t('theme', t(theme.value))} onClick=${nextTheme} />
    </div>
  </nav>`;
}
