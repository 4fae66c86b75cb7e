import { same as equal, test } from './check.js';
import { effect } from '/assets/vendor/signals-core.mjs';
import { arrive, go, href, parse, place, same } from '/assets/state/place.js';

test('an address is read as it is written', () => {
  for (const [hash, want] of [['', [null, 0]], ['#', [null, 0]], ['#abc', ['abc', 0]], ['#abc/12', ['abc', 12]], ['#abc/x', ['abc', 0]],
    ['abc/7', ['abc', 7]]]) {
    const p = parse(hash);
    equal([p.id, p.seq], want, hash);
    equal(same(parse(href(p.id, p.seq)), p), true, hash);
  }
  equal([href(null), href('a'), href('a', 0), href('a', 3)], ['#', '#a', '#a', '#a/3']);
  equal([same({ id: 'a', seq: 1 }, { id: 'a', seq: 2 }), same({ id: 'a', seq: 0, arrived: true }, { id: 'a', seq: 0 })], [false, true]);
});

test('going to where one is moves there again; arriving says so', () => {
  const seen = [];
  const end = effect(() => { seen.push({ ...place.value }); });
  go('a', 5);
  go('a', 5);
  arrive('b');
  go(null);
  end();
  equal(seen, [{ id: null, seq: 0 }, { id: 'a', seq: 5 }, { id: 'a', seq: 5 }, { id: 'b', seq: 0, arrived: true }, { id: null, seq: 0 }]);
});
