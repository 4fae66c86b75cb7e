import { same, test } from './check.js';
import * as keyboard from '/assets/state/keyboard.js';

const press = (key, more = {}) => ({ key, metaKey: false, ctrlKey: false, shiftKey: false, altKey: false, isComposing: false, ...more });
const name = (e, inField = false) => { const k = keyboard.named(e, inField); return k && k.name; };

test('a press means one entry of the table', () => {
  same([name(press('k', { ctrlKey: true })), name(press('K', { metaKey: true, shiftKey: true })), name(press('O', { ctrlKey: true, shiftKey: true })), name(press('o')), name(press('?', { shiftKey: true }))],
    ['palette', null, 'new', 'open', 'keys']);
  same([name(press('k', { ctrlKey: true, isComposing: true })), name(press('j'), true), name(press('k', { metaKey: true }), true)], [null, null, 'palette']);
});

test('single letters can be switched off', () => {
  keyboard.setLetters(false);
  same([name(press('j')), name(press('k', { ctrlKey: true }))], [null, 'palette']);
  keyboard.setLetters(true);
  same(name(press('j')), 'next');
});

test('the newest wish for a key is done, and the one before comes back', () => {
  const done = [];
  const first = keyboard.on('next', () => done.push('a'));
  const second = keyboard.on('next', () => done.push('b'));
  keyboard.run('next');
  second();
  keyboard.run('next');
  first();
  same([done, keyboard.run('next')], [['b', 'a'], false]);
});

test('keys are listed in groups, and spelled as the platform does', () => {
  same([...new Set(keyboard.table.map((k) => k.group))], ['page', 'writing', 'reading']);
  keyboard.begin('Linux');
  same(['new', 'line', 'stop', 'next', 'nothing'].map(keyboard.spelled), ['Ctrl Shift O', 'Shift Enter', 'Esc', 'J', '']);
  keyboard.begin('MacIntel');
  same(['new', 'line', 'send', 'palette'].map(keyboard.spelled), ['⇧⌘O', '⇧↵', '↵', '⌘K']);
  same(name(press('Enter')), null);
});
