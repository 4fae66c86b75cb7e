// Whether texts are shown as they were written, which is what a model reads, or drawn: for all
// messages, and for those that are the other way.
import { signal } from '../vendor/signals-core.mjs';
import * as memory from './memory.js';

export const all = signal(false);
const others = signal(new Set()); // ids of the messages that are shown the other way

export function begin() { all.value = memory.get('raw') === 'on'; }

export const raw = (m) => all.value !== others.value.has(m.id);

// flip shows one message the other way.
export function flip(m) {
  const to = new Set(others.value);
  if (!to.delete(m.id)) to.add(m.id);
  others.value = to;
}

// flipAll shows all messages the other way, and alike.
export function flipAll() {
  others.value = new Set();
  all.value = !all.value;
  memory.set('raw', all.value ? 'on' : null);
}
