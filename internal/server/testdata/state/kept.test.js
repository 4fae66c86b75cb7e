import { is, same, test } from './check.js';
import * as kept from '/assets/state/kept.js';
import * as memory from '/assets/state/memory.js';

const shelf = new Map();
const storage = { getItem: (k) => shelf.get(k) ?? null, setItem: (k, v) => shelf.set(k, v), removeItem: (k) => shelf.delete(k) };

test('without a memory this tab knows, and says that the browser does not', () => {
  same([kept.write('a', { text: 'x' }), kept.read('a').text, kept.stored('a')], [false, 'x', null]);
});

test('what is remembered is found by another tab, and what is forgotten is not', () => {
  memory.use(storage);
  same([kept.write('b', { text: 'y' }), kept.stored('b').text], [true, 'y']);
  shelf.set('scrollback.drafts', JSON.stringify([{ id: 'z', text: 'of another tab' }]));
  same([kept.read('z').text, kept.stored('b'), kept.read('b').text], ['of another tab', null, 'y']);
  kept.write('c', { text: 'w' });
  same(JSON.parse(shelf.get('scrollback.drafts')).map((e) => e.id), ['c', 'z'], 'what others wrote stays:');
  kept.write('c', null);
  kept.write('z', null);
  same([shelf.has('scrollback.drafts'), kept.read('c')], [false, null]);
});

test('a damaged memory is empty', () => {
  for (const bad of ['{', '7', '[null, {"text": "no id"}]']) {
    shelf.set('scrollback.drafts', bad);
    same(kept.stored('a'), null, bad);
  }
});

test('it is bounded, and the oldest goes first', () => {
  for (let i = 0; i < 40; i++) kept.write(`m${i}`, { text: String(i) });
  same([kept.stored('m39').text, kept.stored('m10').text, kept.stored('m9')], ['39', '10', null]);
  kept.write('big', { text: 'x'.repeat(399_700) });
  is(kept.stored('big') !== null && kept.stored('m11') === null, 'what is new stays');
  same([kept.write('huge', { text: 'x'.repeat(500_000) }), kept.read('huge').text.length], [false, 500_000]);
});
