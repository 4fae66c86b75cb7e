// The keys: one table, and what each does where it is. Single letters work outside text fields,
// and can be switched off.
import { signal } from '../vendor/signals-core.mjs';
import * as memory from './memory.js';

// key is as the browser names it; mod is ⌘ or Ctrl; letter works only outside text fields.
// said is a key that works only where it is, such as in a text; it is listed, not looked up.
// group is where the list of keys has it.
export const table = [
  { name: 'palette', key: 'k', mod: true, group: 'page' },
  { name: 'new', key: 'o', mod: true, shift: true, group: 'page' },
  { name: 'switch', key: 'e', mod: true, shift: true, group: 'page' },
  { name: 'receipts', key: '.', mod: true, group: 'page' },
  { name: 'sidebar', key: 's', mod: true, shift: true, group: 'page' },
  { name: 'keys', key: '?', letter: true, group: 'page' },
  { name: 'send', said: 'Enter', group: 'writing' },
  { name: 'line', said: 'Shift Enter', group: 'writing' },
  { name: 'stop', said: 'Esc', group: 'writing' },
  { name: 'next', key: 'j', letter: true, group: 'reading' },
  { name: 'previous', key: 'k', letter: true, group: 'reading' },
  { name: 'open', key: 'o', letter: true, group: 'reading' },
  { name: 'pin', key: 'p', letter: true, group: 'reading' },
  { name: 'raw', key: 'r', letter: true, group: 'reading' },
  { name: 'earlier', key: '[', letter: true, group: 'reading' },
  { name: 'later', key: ']', letter: true, group: 'reading' },
  { name: 'goto', key: 'g', letter: true, group: 'reading' },
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
  if (k.said) return mac.value ? k.said.replace('Shift ', '⇧').replace('Enter', '↵') : k.said;
  const key = k.key.toUpperCase();
  return mac.value ? `${k.shift ? '⇧' : ''}${k.mod ? '⌘' : ''}${key}` : `${k.mod ? 'Ctrl ' : ''}${k.shift ? 'Shift ' : ''}${key}`;
}
