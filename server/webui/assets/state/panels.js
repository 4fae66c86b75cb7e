// What is open beside what is read, or over it.
import { signal } from '../vendor/signals-core.mjs';

export const width = signal(0); // of the page, in CSS pixels
export const sidebarOpen = signal(false);
export const panel = signal(null); // beside the conversation: 'receipts', 'settings', or null
export const searchOpen = signal(false);
export const keysOpen = signal(false);
export const question = signal(null); // {kind, …}: what is asked over the page, such as where to move conversations

const wide = (px) => width.peek() >= px;

// narrow and covers say that the sidebar, or the panel, covers the conversation instead of
// standing beside it.
export const narrow = () => !wide(800);
export const covers = () => !wide(1200);

export function begin(px) {
  width.value = px;
  sidebarOpen.value = wide(800);
}

export function toggleSidebar(open = !sidebarOpen.value) { sidebarOpen.value = open; }

// togglePanel opens what, or closes it where it is open.
export function togglePanel(what) { panel.value = panel.value === what ? null : what; }
