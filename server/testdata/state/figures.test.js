import { is, same, test } from './check.js';
import { ago, bytes, clock, iso, num, percent, seconds, whole } from '/assets/state/figures.js';
import { lang } from '/assets/state/words.js';

const spoken = (l, f) => { lang.value = l; return f(); };

test('numbers and sizes', () => {
  same([num(1234567), percent(0.994), bytes(0), bytes(1023), bytes(1024), bytes(10 << 10), bytes(1.5 * 2 ** 30), bytes(2 ** 41)],
    ['1,234,567', '99%', '0 B', '1,023 B', '1.0 KB', '10 KB', '1.5 GB', '2048 GB']);
});

test('how long something took', () => {
  same([seconds(1), seconds(3240), seconds(61000)], ['0.1 s', '3.2 s', '61 s']);
});

test('a time today is its hour, another its day, another year its year', () => {
  const noon = new Date();
  noon.setHours(12, 34, 0, 0);
  same(spoken('en', () => clock(noon.getTime())), '12:34');
  const old = new Date(2019, 0, 5, 15, 30).getTime();
  same(spoken('en', () => clock(old)), '5 Jan 2019, 15:30');
  same(spoken('zh', () => clock(old)), '2019年1月5日 15:30');
  is(/Saturday.*2019/.test(spoken('en', () => whole(old))), whole(old));
  same(iso(0), '1970-01-01T00:00:00.000Z');
});

test('how long ago, in one word or two', () => {
  const now = Date.now();
  const en = (s) => spoken('en', () => ago(now - s * 1000));
  same([en(-5), en(10)], ['now', 'now']);
  for (const [seconds, like] of [[50, /^1 ?min ago$/], [3 * 3600 + 5, /^3 ?hr? ago$/], [2 * 86400 + 5, /^2 ?d(ays)? ago$/],
    [400 * 86400, /^1 ?yr? ago$/]]) is(like.test(en(seconds)), en(seconds));
  same(spoken('zh', () => ago(now - 7200 * 1000)), '2小时前');
});
