// What is open and shown, besides the data: panels, dialogs, the banner, the toast, the theme.
import { signal } from '@preact/signals';
import { kept } from './kept.js';

const wide = (px) => matchMedia(`(min-width: ${px}px)`).matches;

export const sidebarOpen = signal(wide(800));
export const mapOpen = signal(wide(1200) && kept('map') !== 'closed');
export const searchOpen = signal(false);
export const banner = signal(null); // {text}; no text means that the server does not answer
export const toast = signal(null); // {text, action?, run?}
export const reading = signal(null); // what the reader shows: {conversation, ref, title, line?} or {title, text}
export const theme = signal(document.documentElement.dataset.theme || 'auto');

// narrow says that a panel covers the conversation instead of standing beside it.
export const narrow = () => !wide(800);
export const covers = () => !wide(1100);

export function toggleSidebar(open = !sidebarOpen.value) { sidebarOpen.value = open; }

export function toggleMap(open = !mapOpen.value) {
  mapOpen.value = open;
  if (wide(1200)) kept('map', open ? null : 'closed');
}

export function nextTheme() {
  const order = ['auto', 'light', 'dark'];
  const to = order[(order.indexOf(theme.value) + 1) % 3];
  theme.value = to;
  if (to === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = to;
  kept('theme', to === 'auto' ? null : to);
}

let fading = 0;
export function say(text, action, run) {
  clearTimeout(fading);
  toast.value = { text, action, run };
  fading = setTimeout(() => { toast.value = null; }, action ? 9000 : 4000);
}

export function complain(err) {
  if (!err || err.name === 'AbortError') return;
  banner.value = { text: err instanceof TypeError ? null : err.message || String(err) };
}

// hush takes the banner away: the reader went on to something else.
export function hush() { banner.value = null; }

// attempt runs fn; what goes wrong is shown, and answered as undefined.
export async function attempt(fn) {
  try {
    return await fn();
  } catch (err) {
    complain(err);
    return undefined;
  }
}
