// The frame of the page: the sidebar, what is open, what stands beside it and what lies over it.
import { html } from './html.js';
import { Astray } from './astray.js';
import { Chat } from './chat.js';
import { SampleBar } from './first.js';
import { Header } from './header.js';
import { Drops } from './imported.js';
import { Button } from './icons.js';
import { Keys } from './keys.js';
import { Minimap } from './minimap.js';
import { Missing } from './missing.js';
import { Palette } from './palette.js';
import { Panel } from './panel.js';
import { Preferences } from './preferences.js';
import { Projects } from './projects.js';
import { Question } from './questions.js';
import { Reader } from './reader.js';
import { Sidebar } from './sidebar.js';
import { SignIn } from './signin.js';
import { Trash } from './trash.js';
import { Usage } from './usage.js';
import { banner, hush, toast } from '../state/notices.js';
import { covers, narrow, panel, sidebarOpen, toggleSidebar } from '../state/panels.js';
import { place } from '../state/place.js';
import { locked } from '../state/session.js';
import * as thread from '../state/thread.js';
import { t } from '../state/words.js';

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

// views are what is shown instead of a conversation, by the place's name.
const views = { usage: Usage, settings: Preferences, projects: Projects, trash: Trash };

function Conversation() {
  if (thread.missing.value && !thread.conversation.value) return html`<${Header} /><${Missing} />`;
  const map = thread.conversation.value !== null && thread.messages.value.length > 0;
  return html`<${Header} /><${SampleBar} /><${Banner} /><${Astray} /><div class=${'stage' + (map ? ' with-minimap' : '')}><${Chat} />${map && html`<${Minimap} />`}</div>`;
}

export function Page() {
  if (locked.value) return html`<${SignIn} />`;
  const View = views[place.value.view] || Conversation;
  const beside = View === Conversation && thread.conversation.value !== null ? panel.value : null;
  const shade = () => { if (narrow()) toggleSidebar(false); if (covers()) panel.value = null; };
  return html`<a class="unseen skip" href="#main" onClick=${(e) => { e.preventDefault(); document.getElementById('main').focus(); }}>${t('frame.skip')}</a>
  <div class=${`page${sidebarOpen.value ? ' with-sidebar' : ''}${beside ? ' with-panel' : ''}`}>
    <${Sidebar} />
    <main id="main" tabindex="-1">${View !== Conversation && html`<${Banner} />`}<${View} /></main>
    ${beside && html`<${Panel} />`}
    <div class="shade" onClick=${shade} />
  </div><${Palette} /><${Keys} /><${Reader} /><${Question} /><${Drops} /><${Toast} />`;
}
