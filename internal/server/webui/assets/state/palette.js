// The commands that can be called by name: each area of the page registers its own.
import { signal } from '../vendor/signals-core.mjs';
import { t } from './words.js';

const all = signal([]);

// register adds commands, and returns what takes them out again. A command is {name, words,
// run, when, icon, key, sure}: words is a text of the page, or a function that says it; when says
// whether it can be run now; key is the key that does the same; sure is a text that asks
// whether it is meant. A later command of the same
// name takes the place of an earlier one.
export function register(commands) {
  all.value = [...all.peek(), ...commands];
  return () => { all.value = all.peek().filter((c) => !commands.includes(c)); };
}

export const labelOf = (c) => (typeof c.words === 'function' ? c.words() : t(c.words));

// available are the commands that can be run now.
export function available() {
  const last = new Map();
  for (const c of all.value) last.set(c.name, c);
  return [...last.values()].filter((c) => !c.when || c.when());
}

// matching are those whose label or name holds every word of a text; those that begin with it
// come first.
export function matching(text) {
  const words = text.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const of = (c) => `${labelOf(c)} ${c.name}`.toLowerCase();
  const starts = (c) => words.length > 0 && of(c).startsWith(words[0]);
  const found = available().filter((c) => words.every((w) => of(c).includes(w)));
  return [...found.filter(starts), ...found.filter((c) => !starts(c))];
}
