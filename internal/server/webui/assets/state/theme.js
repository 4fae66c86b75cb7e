// How the page looks: light, dark, or as the system has it; and how much room it leaves.
import { signal } from '../vendor/signals-core.mjs';
import * as memory from './memory.js';

export const themes = ['auto', 'light', 'dark'];
export const densities = ['comfortable', 'compact'];

export const theme = signal('auto');
export const density = signal('comfortable');

// begin takes up what was chosen on an earlier visit.
export function begin() {
  const [colours, room] = [memory.get('theme'), memory.get('density')];
  theme.value = themes.includes(colours) ? colours : 'auto';
  density.value = densities.includes(room) ? room : 'comfortable';
}

export function setTheme(to) {
  theme.value = to;
  memory.set('theme', to === 'auto' ? null : to);
}

export const nextTheme = () => setTheme(themes[(themes.indexOf(theme.value) + 1) % themes.length]);

export function setDensity(to) {
  density.value = to;
  memory.set('density', to === 'comfortable' ? null : to);
}
