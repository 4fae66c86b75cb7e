import { same, test } from './check.js';
import * as panels from '/assets/state/panels.js';

test('what has room is open at first', () => {
  for (const [px, want] of [[390, [false, true, true]], [799, [false, true, true]], [800, [true, false, true]],
    [1199, [true, false, true]], [1200, [true, false, false]]]) {
    panels.begin(px);
    same([panels.sidebarOpen.value, panels.narrow(), panels.covers()], want, `${px} px:`);
  }
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
