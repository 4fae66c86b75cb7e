// Light, dark, or as the system has it.
import { signal } from '../vendor/signals-core.mjs';
import * as memory from './memory.js';

const order = ['auto', 'light', 'dark'];

export const theme = signal('auto');

// begin takes up what was chosen on an earlier visit.
export function begin() {
  const chosen = memory.get('theme');
  theme.value = order.includes(chosen) ? chosen : 'auto';
}

export function nextTheme() {
  const to = order[(order.indexOf(theme.value) + 1) % order.length];
  theme.value = to;
  memory.set('theme', to === 'auto' ? null : to);
}
