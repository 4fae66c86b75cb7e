// Which panels are open beside the conversation or over it.
import { signal } from '../vendor/signals-core.mjs';
import * as memory from './memory.js';

export const width = signal(0); // of the page, in CSS pixels
export const sidebarOpen = signal(false);
export const mapOpen = signal(false);
export const searchOpen = signal(false);

const wide = (px) => width.peek() >= px;

// narrow and covers say that the sidebar, or the map, covers the conversation instead of
// standing beside it.
export const narrow = () => !wide(800);
export const covers = () => !wide(1100);

// begin opens what has room on a page of px.
export function begin(px) {
  width.value = px;
  sidebarOpen.value = wide(800);
  mapOpen.value = wide(1200) && memory.get('map') !== 'closed';
}

export function toggleSidebar(open = !sidebarOpen.value) { sidebarOpen.value = open; }

export function toggleMap(open = !mapOpen.value) {
  mapOpen.value = open;
  if (wide(1200)) memory.set('map', open ? null : 'closed');
}
