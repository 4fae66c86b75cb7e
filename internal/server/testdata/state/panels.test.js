import { same, test } from './check.js';
import * as panels from '/assets/state/panels.js';

test('what has room is open at first', () => {
  for (const [px, want] of [[390, [false, true, true]], [799, [false, true, true]], [800, [true, false, true]],
    [1199, [true, false, true]], [1200, [true, false, false]]]) {
    panels.begin(px);
    same([panels.sidebarOpen.value, panels.narrow(), panels.covers()], want, `${px} px:`);
  }
});

test('what would cover the conversation in a narrower page is put away, and back where there is room', () => {
  panels.begin(1300);
  panels.panel.value = 'settings';
  const after = (px) => { panels.resize(px); return [panels.sidebarOpen.value, panels.panel.value]; };
  same([1100, 390, 380, 1100, 1300].map(after), [[true, null], [false, null], [false, null], [true, null], [true, 'settings']]);
  panels.resize(390);
  panels.toggleSidebar(true); // by hand, it stays while the phone is turned
  same(after(420), [true, null]);
  panels.begin(1300);
  panels.panel.value = null;
  panels.toggleSidebar(false);
  same([390, 1300].map(after), [[false, null], [false, null]]);
});

test('the panel shows one thing, and closes by what opened it', () => {
  panels.togglePanel('receipts');
  same(panels.panel.value, 'receipts');
  panels.togglePanel('settings');
  same(panels.panel.value, 'settings');
  panels.togglePanel('settings');
  same(panels.panel.value, null);
  panels.begin(390);
  panels.toggleSidebar();
  same(panels.sidebarOpen.value, true);
});
