// The sidebar: a new conversation, the search, the projects, the conversations; below them what is
// beside the conversations.
import { html, useRef } from './html.js';
import { Button, icon } from './icons.js';
import { Item, Menu } from './menu.js';
import { Chosen, Rows } from './rows.js';
import * as conversations from '../state/conversations.js';
import { num } from '../state/figures.js';
import * as imports from '../state/imports.js';
import * as keyboard from '../state/keyboard.js';
import { narrow, question, toggleSidebar } from '../state/panels.js';
import { go, place, viewHref } from '../state/place.js';
import * as projects from '../state/projects.js';
import { mayWrite, named, signOut, who } from '../state/session.js';
import { nextTheme, theme } from '../state/theme.js';
import { lang, setLang, t } from '../state/words.js';

export const Logo = () => html`<svg class="logo" viewBox="0 0 18 18" width="18" height="18" aria-hidden="true"><rect x="1" y="2" width="16" height="4" rx="2" class="far" />
  <rect x="1" y="7" width="16" height="4" rx="2" class="near" /><rect x="1" y="12" width="16" height="4" rx="2" class="now" /></svg>`;

// Projects is the choice of which conversations are listed, and where new ones go.
function Projects() {
  const at = conversations.project.value;
  const list = projects.list.value;
  const p = list.find((x) => x.name === at);
  const name = at ? (p ? projects.nameOf(p) : at) : t('side.allProjects');
  const choose = (x) => () => conversations.setProject(x);
  const total = list.reduce((n, x) => n + x.conversations, 0);
  return html`<${Menu} label=${t('side.projects', name)} cls="go" onOpen=${projects.refresh} button=${html`${icon('folder')}<span>${name}</span>${icon('caret')}`}>
    ${() => html`<${Item} checked=${!at} onClick=${choose(null)}>${t('side.allProjects')}<small>${num(total)}</small><//>
      ${list.map((x) => html`<${Item} key=${x.name} checked=${at === x.name} onClick=${choose(x.name)}><span class="cut">${projects.nameOf(x)}</span><small>${num(x.conversations)}</small><//>`)}<hr />
      ${mayWrite.value && html`<${Item} name="plus" onClick=${() => { question.value = { kind: 'project' }; }}>${t('side.newProject')}<//>`}
      <${Item} name="tune" onClick=${() => { location.hash = viewHref('projects', at); }}>${at ? t('side.setUp', name) : t('side.manage')}<//>`}<//>`;
}

const themeIcon = { auto: 'half', light: 'sun', dark: 'moon' };

// Way is a link to what is beside the conversations.
const Way = ({ view, name, label, text }) => html`<a class=${'ghost' + (text ? ' text' : '')} href=${viewHref(view)} aria-label=${label} title=${label} aria-current=${place.value.view === view ? 'page' : null}>${icon(name)}${text && html`<span>${text}</span>`}</a>`;

function Import() {
  const file = useRef(null);
  const job = imports.job.value;
  const going = job && (job.state === 'sending' || job.state === 'reading');
  const pick = (e) => {
    const files = Array.from(e.currentTarget.files);
    e.currentTarget.value = '';
    if (files.length) { imports.bring(files, conversations.project.value); question.value = { kind: 'import' }; }
  };
  const label = going ? t('importing') : t('importHint');
  return html`<input ref=${file} type="file" multiple hidden onChange=${pick} aria-label=${t('importHint')} />
    <${Button} name="import" cls=${going ? 'going' : ''} label=${label} disabled=${!mayWrite.value} onClick=${() => (job ? (question.value = { kind: 'import' }) : file.current.click())} />`;
}

export function Sidebar() {
  const other = lang.value === 'zh' ? 'en' : 'zh';
  const fresh = () => { go(null); if (narrow()) toggleSidebar(false); };
  return html`<nav class="sidebar" aria-label=${t('conversations')}>
    <div class="top"><a class="brand" href="#"><${Logo} />scrollback</a>
      <${Button} name="sidebar" label=${t('closeSidebar')} onClick=${() => toggleSidebar(false)} /></div>
    <button type="button" class="go new" disabled=${!mayWrite.value} onClick=${fresh}>${icon('plus')}<span>${t('newConversation')}</span><kbd>${keyboard.spelled('new').replace('Shift ', '⇧')}</kbd></button>
    <button type="button" class="go" onClick=${() => keyboard.run('palette')}>${icon('search')}<span>${t('side.search')}</span><kbd>${keyboard.spelled('palette')}</kbd></button>
    <${Projects} />
    <label class="filter">${icon('filter')}<input type="search" value=${conversations.filter.value} placeholder=${t('filter')} aria-label=${t('filter')}
      onInput=${(e) => conversations.setFilter(e.currentTarget.value)} onKeyDown=${(e) => { if (e.key === 'ArrowDown') { e.preventDefault(); document.querySelector('.rows a[tabindex="0"]')?.focus(); } }} /></label>
    <${Rows} /><${Chosen} />
    ${named.value && html`<div class="whose"><a href=${viewHref('settings', 'account')} title=${t('signedIn', who.value.name)}>${who.value.name}</a>
      <button type="button" class="link" onClick=${signOut}>${t('signOut')}</button></div>`}
    <div class="foot">
      <${Way} view="usage" name="usage" label=${t('usage.title')} text=${t('usage.title')} /><span class="gap" />
      <${Import} />
      <${Way} view="trash" name="trash" label=${t('trash')} />
      <button type="button" class="ghost tongue" title=${t('languageHint')} aria-label=${t('languageHint')} lang=${other === 'zh' ? 'zh-CN' : 'en'} onClick=${() => setLang(other)}>${other === 'zh' ? '中' : 'EN'}</button>
      <${Button} name=${themeIcon[theme.value]} label=${t('theme', t(theme.value))} onClick=${nextTheme} />
      <${Way} view="settings" name="tune" label=${t('side.settings')} />
    </div>
  </nav>`;
}
