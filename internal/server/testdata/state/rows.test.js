import { conversation, is, same, test } from './check.js';
import { list, pinned } from '/assets/state/conversations.js';
import * as rows from '/assets/state/rows.js';
import { group, when } from '/assets/state/dates.js';
import { setDensity } from '/assets/state/theme.js';
import { setLang } from '/assets/state/words.js';

const now = new Date(2026, 10, 23, 9, 30).getTime();
const at = (...d) => new Date(...d).getTime();
const dated = (id, updated_at) => conversation(id, { updated_at });

test('times are grouped by days of the calendar, in both languages', () => {
  const times = [now, at(2026, 10, 23, 0, 1), at(2026, 10, 22, 23, 59), at(2026, 10, 16, 12), at(2026, 9, 24, 12), at(2026, 8, 2), at(2025, 8, 2)];
  same(times.map((x) => group(x, now).label), ['Today', 'Today', 'Yesterday', 'Last 7 days', 'Last 30 days', 'September', 'September 2025']);
  same(times.map((x) => when(x, now)), ['now', '00:01', 'Sun', 'Mon', '24 Oct', '2 Sept', '2 Sept 2025']);
  setLang('zh');
  same(times.map((x) => group(x, now).label), ['今天', '今天', '昨天', '过去 7 天', '过去 30 天', '九月', '2025年9月']);
  setLang('en');
  same(group(now + 3600000, now).label, 'Today', 'of a clock that is ahead:');
});

test('what is pinned comes first and once', () => {
  const a = dated('a', now);
  const all = rows.flat([a, dated('b', now - 1), dated('c', at(2026, 10, 22))], [a], now);
  same(all.map((x) => x.label || x.key), ['Pinned', 'a', 'Today', 'b', 'Yesterday', 'c']);
  same(rows.flat([], [], now), []);
});

test('of ten thousand only what is in sight is drawn', () => {
  list.value = Array.from({ length: 10000 }, (_, i) => dated(`c${i}`, now - i * 1000));
  pinned.value = [];
  rows.now.value = now;
  const tops = rows.places.value;
  const bottom = tops[tops.length - 1];
  is(bottom >= 10000 * rows.heights.comfortable.row, `the list is ${bottom} high`);
  for (const top of [0, 3000, bottom / 2, bottom - 800, bottom + 9999]) {
    const p = rows.part(tops, top, 800);
    is(p.to - p.from < 40 && p.from >= 0 && p.to <= rows.items.value.length, `at ${top}: ${p.from} to ${p.to}`);
    const seen = Math.min(top, bottom - 1);
    is(tops[p.from] <= seen && tops[p.to] >= Math.min(bottom, seen + 800), `at ${top} something in sight is missing`);
  }
  setDensity('compact');
  is(rows.places.value[rows.places.value.length - 1] < bottom, 'compact rows are as high');
  setDensity('comfortable');
});

test('keys go from one to the next, and stop at the ends', () => {
  list.value = [dated('a', now), dated('b', now - 1), dated('c', at(2026, 10, 1))];
  same([rows.beside('a', 1), rows.beside('b', 1), rows.beside('c', 1), rows.beside('a', -1), rows.beside(null, 1), rows.beside('gone', -1), rows.beside('a', 99)],
    ['b', 'c', 'c', 'a', 'a', 'c', 'c']);
});
