// The keys: one table, and what each does where it is. Single letters work outside text fields,
// and can be switched off.
import { signal } from '../vendor/signals-core.mjs';
import * as memory from './memory.js';

// key is as the browser names it; mod is ⌘ or Ctrl; letter works only outside text fields.
export const table = [
  { name: 'palette', key: 'k', mod: true },
  { name: 'new', key: 'o', mod: true, shift: true },
  { name: 'switch', key: 'e', mod: true, shift: true },
  { name: 'receipts', key: '.', mod: true },
  { name: 'sidebar', key: 's', mod: true, shift: true },
  { name: 'keys', key: '?', letter: true },
  { name: 'next', key: 'j', letter: true },
  { name: 'previous', key: 'k', letter: true },
  { name: 'open', key: 'o', letter: true },
  { name: 'pin', key: 'p', letter: true },
  { name: 'raw', key: 'r', letter: true },
  { name: 'earlier', key: '[', letter: true },
  { name: 'later', key: ']', letter: true },
  { name: 'goto', key: 'g', letter: true },
];

export const letters = signal(true); // single letters do something
export const mac = signal(false);

export function begin(platform) {
  letters.value = memory.get('letters') !== 'off';
  mac.value = /mac|iphone|ipad/i.test(platform || '');
}

export function setLetters(yes) {
  letters.value = yes;
  memory.set('letters', yes ? null : 'off');
}

const doers = new Map(); // by name, what to do; the last one first

// on says what a key does until the function that it returns is called.
export function on(name, fn) {
  doers.set(name, [fn, ...(doers.get(name) || [])]);
  return () => doers.set(name, (doers.get(name) || []).filter((f) => f !== fn));
}

// run does what a key is for; false where nobody wants it.
export function run(name) {
  const [fn] = doers.get(name) || [];
  if (!fn) return false;
  fn();
  return true;
}

// named is the entry of the table that a press means; inField says that a text is being written.
export function named(e, inField) {
  if (e.isComposing || e.altKey) return null;
  const mod = e.metaKey || e.ctrlKey;
  return table.find((k) => k.key === e.key.toLowerCase() && Boolean(k.mod) === mod && (k.letter ? letters.value && !inField : Boolean(k.shift) === e.shiftKey)) || null;
}

// spelled is how a key is shown.
export function spelled(name) {
  const k = table.find((x) => x.name === name);
  if (!k) return '';
  const key = k.key.toUpperCase();
  return mac.value ? `${k.shift ? '⇧' : ''}${k.mod ? '⌘' : ''}${key}` : `${k.mod ? 'Ctrl ' : ''}${k.shift ? 'Shift ' : ''}${key}`;
}
