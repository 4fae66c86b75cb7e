import { same, test } from './check.js';
import * as memory from '/assets/state/memory.js';
import * as panels from '/assets/state/panels.js';

const held = {};
memory.use({ getItem: (k) => held[k] ?? null, setItem: (k, v) => { held[k] = v; }, removeItem: (k) => { delete held[k]; } });

test('what has room is open at first', () => {
  for (const [px, want] of [[390, [false, false, true, true]], [799, [false, false, true, true]], [800, [true, false, false, true]],
    [1100, [true, false, false, false]], [1199, [true, false, false, false]], [1200, [true, true, false, false]]]) {
    panels.begin(px);
    same([panels.sidebarOpen.value, panels.mapOpen.value, panels.narrow(), panels.covers()], want, `${px} px:`);
  }
});

test('a map that was closed stays closed on the next visit, on a wide page only', () => {
  panels.begin(1300);
  panels.toggleMap();
  same([panels.mapOpen.value, held['scrollback.map']], [false, 'closed']);
  panels.begin(1300);
  same(panels.mapOpen.value, false);
  panels.toggleMap(true);
  same(held['scrollback.map'], undefined);
  panels.begin(390);
  panels.toggleMap(true);
  panels.toggleMap(false);
  same(held['scrollback.map'], undefined);
  panels.toggleSidebar();
  same(panels.sidebarOpen.value, true);
});
