import { same, test } from './check.js';
import * as memory from '/assets/state/memory.js';

export function shelf() {
  const held = new Map();
  return { held, getItem: (k) => held.get(k) ?? null, setItem: (k, v) => { held.set(k, v); }, removeItem: (k) => { held.delete(k); } };
}

test('without a shelf nothing is remembered', () => {
  memory.set('a', '1');
  same(memory.get('a'), null);
});

test('what is set is there until it is forgotten, under the name of the product', () => {
  const s = shelf();
  memory.use(s);
  memory.set('a', '1');
  same([memory.get('a'), ...s.held], ['1', ['scrollback.a', '1']]);
  memory.set('a', null);
  same([memory.get('a'), s.held.size], [null, 0]);
});

test('a browser that forbids it does no harm', () => {
  const no = () => { throw new Error('forbidden'); };
  memory.use({ getItem: no, setItem: no, removeItem: no });
  memory.set('a', '1');
  memory.set('a', null);
  same(memory.get('a'), null);
});
