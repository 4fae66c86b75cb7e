// What is open beside what is read, or over it.
import { signal } from '../vendor/signals-core.mjs';

export const width = signal(0); // of the page, in CSS pixels
export const sidebarOpen = signal(false);
export const panel = signal(null); // beside the conversation: 'receipts', 'kept', 'settings', or null
export const searchOpen = signal(false);
export const keysOpen = signal(false);
export const question = signal(null); // {kind, …}: what is asked over the page, such as where to move conversations

const wide = (px) => width.peek() >= px;

// narrow and covers say that the sidebar, or the panel, covers the conversation instead of
// standing beside it.
export const narrow = () => !wide(800);
export const covers = () => !wide(1200);

let put = { sidebar: false, panel: null }; // what was put away because it no longer stood beside

export function begin(px) {
  width.value = px;
  put = { sidebar: false, panel: null };
  sidebarOpen.value = wide(800);
}

// resize takes the page's width. What stood beside the conversation and would cover it now is put
// away, and is there again once there is room.
export function resize(px) {
  const [stood, beside] = [!narrow(), !covers()];
  width.value = px;
  if (stood && narrow() && sidebarOpen.value) { put.sidebar = true; sidebarOpen.value = false; }
  if (!stood && !narrow()) { sidebarOpen.value = sidebarOpen.value || put.sidebar; put.sidebar = false; }
  if (beside && covers() && panel.value) { put.panel = panel.value; panel.value = null; }
  if (!beside && !covers()) { panel.value = panel.value || put.panel; put.panel = null; }
}

export function toggleSidebar(open = !sidebarOpen.value) { sidebarOpen.value = open; }

// togglePanel opens what, or closes it where it is open.
export function togglePanel(what) { panel.value = panel.value === what ? null : what; }
