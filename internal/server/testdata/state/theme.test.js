import { same, test } from './check.js';
import * as memory from '/assets/state/memory.js';
import { begin, density, nextTheme, setDensity, setTheme, theme } from '/assets/state/theme.js';

test('themes go round, and only a choice is remembered', () => {
  const held = {};
  memory.use({ getItem: (k) => held[k] ?? null, setItem: (k, v) => { held[k] = v; }, removeItem: (k) => { delete held[k]; } });
  const seen = [];
  for (let i = 0; i < 4; i++) { seen.push([theme.value, held['scrollback.theme']]); nextTheme(); }
  same(seen, [['auto', undefined], ['light', 'light'], ['dark', 'dark'], ['auto', undefined]]);
  for (const [kept, want] of [['dark', 'dark'], ['neon', 'auto']]) {
    held['scrollback.theme'] = kept;
    begin();
    same(theme.value, want, kept);
  }
});

test('a theme can be named, and so can how much room there is', () => {
  const held = {};
  memory.use({ getItem: (k) => held[k] ?? null, setItem: (k, v) => { held[k] = v; }, removeItem: (k) => { delete held[k]; } });
  setTheme('dark');
  setDensity('compact');
  same([theme.value, density.value, held], ['dark', 'compact', { 'scrollback.theme': 'dark', 'scrollback.density': 'compact' }]);
  density.value = 'comfortable';
  begin();
  same(density.value, 'compact');
  setDensity('comfortable');
  held['scrollback.density'] = 'roomy';
  begin();
  same(density.value, 'comfortable');
});
