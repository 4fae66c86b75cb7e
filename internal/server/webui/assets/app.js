// The page starts here: the state is given its browser, and what is drawn its place.
import { effect, html, render } from './view/html.js';
import { titleOf } from './state/conversations.js';
import * as feed from './state/feed.js';
import * as figures from './state/figures.js';
import * as keyboard from './state/keyboard.js';
import * as leftout from './state/leftout.js';
import * as memory from './state/memory.js';
import { banner, toast } from './state/notices.js';
import * as panels from './state/panels.js';
import { address, parse, place, same } from './state/place.js';
import * as raw from './state/raw.js';
import { reading } from './state/reader.js';
import * as theme from './state/theme.js';
import { conversation } from './state/thread.js';
import { locked, look } from './state/session.js';
import { start } from './state/visit.js';
import * as words from './state/words.js';
import { begin as registerCommands } from './view/commands.js';
import { Page } from './view/page.js';

try { memory.use(localStorage); } catch { /* forbidden: nothing is remembered */ }
theme.begin();
words.begin(navigator.languages);
figures.begin(navigator.languages);
panels.begin(innerWidth);
raw.begin();
leftout.begin();
// A page that was left is kept for the way back, with its connection; a browser has six for a
// server, so that six pages that were left would keep the next one waiting.
addEventListener('pagehide', () => feed.stop());
addEventListener('pageshow', (e) => { if (e.persisted && !locked.value) feed.follow(true); });
addEventListener('resize', () => panels.resize(innerWidth));

// The address and the place follow each other.
place.value = parse(location.hash);
effect(() => {
  const to = place.value;
  if (same(to, parse(location.hash))) return;
  if (to.arrived) history.replaceState(null, '', address(to));
  else location.hash = address(to);
});
addEventListener('hashchange', () => {
  const to = parse(location.hash);
  if (!same(to, place.value)) place.value = to;
});

effect(() => {
  const to = theme.theme.value;
  if (to === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = to;
});
effect(() => { document.documentElement.dataset.density = theme.density.value; });
effect(() => { document.documentElement.lang = words.lang.value === 'zh' ? 'zh-CN' : 'en'; });
effect(() => { const c = conversation.value; document.title = c ? `${titleOf(c)} · scrollback` : 'scrollback'; });

keyboard.begin(navigator.userAgentData ? navigator.userAgentData.platform : navigator.platform);
registerCommands();
keyboard.on('palette', () => { if (!reading.value) panels.searchOpen.value = !panels.searchOpen.value; });
keyboard.on('new', () => { location.hash = '#'; });
keyboard.on('keys', () => { panels.keysOpen.value = true; });
keyboard.on('sidebar', () => panels.toggleSidebar());
keyboard.on('receipts', () => { if (conversation.value) panels.togglePanel('receipts'); });
keyboard.on('raw', raw.flipAll);

const writing = (el) => Boolean(el && el.closest && el.closest('input, textarea, select, [contenteditable]'));
addEventListener('keydown', (e) => {
  const key = keyboard.named(e, writing(e.target));
  if (key && (key.name === 'palette' || !document.querySelector('dialog[open]'))) {
    if (keyboard.run(key.name)) e.preventDefault();
    return;
  }
  if (e.key !== 'Escape' || e.isComposing || document.querySelector('dialog[open]')) return;
  if (toast.value) toast.value = null;
  else if (banner.value) banner.value = null;
  else if (panels.narrow() && panels.sidebarOpen.value) panels.toggleSidebar(false);
  else if (panels.covers() && panels.panel.value) panels.panel.value = null;
  else keyboard.run('stop');
});

await look();
start();
render(html`<${Page} />`, document.getElementById('app'));
