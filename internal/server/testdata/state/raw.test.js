import { same, test } from './check.js';
import * as memory from '/assets/state/memory.js';
import { all, begin, flip, flipAll, raw } from '/assets/state/raw.js';

const [one, other] = [{ id: 'a' }, { id: 'b' }];

test('texts are drawn, one or all are shown raw, and the latter is remembered', () => {
  const kept = {};
  memory.use({ getItem: (k) => kept[k] ?? null, setItem: (k, v) => { kept[k] = v; }, removeItem: (k) => { delete kept[k]; } });
  begin();
  same([raw(one), raw(other)], [false, false]);
  flip(one);
  same([raw(one), raw(other)], [true, false]);
  flip(one);
  same(raw(one), false);
  flip(one);
  flipAll();
  same([raw(one), raw(other), all.value], [true, true, true], 'all are alike:');
  flip(other);
  same([raw(one), raw(other)], [true, false]);
  all.value = false;
  begin();
  same(all.value, true);
  flipAll();
  begin();
  same([all.value, Object.keys(kept).length], [false, 0]);
  memory.use(null);
});
