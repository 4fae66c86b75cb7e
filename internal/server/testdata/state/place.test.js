import { same as equal, test } from './check.js';
import { effect } from '/assets/vendor/signals-core.mjs';
import { address, arrive, go, href, parse, place, same, show, viewHref } from '/assets/state/place.js';

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

test('what is beside the conversations has addresses too', () => {
  for (const [hash, want] of [['#:usage', ['usage', null, null]], ['#:settings/keys', ['settings', null, 'keys']],
    ['#:projects/a%2Fb%20c', ['projects', null, 'a/b c']], ['#:nonsense', ['chat', null, null]], ['#:projects/%E0%A4', ['projects', null, null]]]) {
    const p = parse(hash);
    equal([p.view, p.id, p.part], want, hash);
    equal(same(parse(address(p)), p), true, hash);
  }
  equal([viewHref('projects', 'a/b c'), address({ view: 'chat', id: 'a', seq: 3 })], ['#:projects/a%2Fb%20c', '#a/3']);
  show('usage');
  equal([place.value.view, place.value.id], ['usage', null]);
});

test('going to where one is moves there again; arriving says so', () => {
  const seen = [];
  const end = effect(() => { seen.push({ ...place.value }); });
  go('a', 5);
  go('a', 5);
  arrive('b');
  go(null);
  end();
  equal(seen.slice(1).map((p) => [p.view, p.id, p.seq, Boolean(p.arrived)]), [['chat', 'a', 5, false], ['chat', 'a', 5, false], ['chat', 'b', 0, true], ['chat', null, 0, false]]);
});
