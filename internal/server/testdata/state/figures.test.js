import { is, same, test } from './check.js';
import { ago, begin, bookDate, bookDay, bookRange, bytes, clock, date, day, dayWithYear, iso, money, num, percent, seconds, short, whole } from '/assets/state/figures.js';
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

test('dates are in the page\u2019s language, as they are written where the browser is', () => {
  const old = new Date(2019, 0, 5, 15, 30).getTime();
  const as = (languages, l = 'en') => { begin(languages); return spoken(l, () => day(old)); };
  same([as(['en-US']), as(['en-GB']), as(['de-DE', 'en-US']), as(['fr']), as(['en']), as([]), as(undefined), as(['not a language'])],
    ['Jan 5, 2019', '5 Jan 2019', 'Jan 5, 2019', '5 Jan 2019', '5 Jan 2019', '5 Jan 2019', '5 Jan 2019', '5 Jan 2019']);
  same([as(['zh-TW'], 'zh'), as(['en-US', 'zh-CN'], 'zh')], ['2019年1月5日', '2019年1月5日']);
  begin(['en-US']);
  is(/3:30.PM/.test(spoken('en', () => clock(old))), spoken('en', () => clock(old)));
  begin(['de-AT']);
  is(/15:30/.test(spoken('en', () => clock(old))), spoken('en', () => clock(old)));
  begin([]);
  same([spoken('en', () => date(old)), spoken('en', () => dayWithYear(old)), num(1234.5)], ['5 Jan 2019', '5 Jan 2019', '1,234.5']);
});

test('days of the books are in UTC', () => {
  const ms = Date.parse('2026-11-18T00:00Z');
  same(spoken('en', () => bookDay(ms)), '18 Nov');
  is(/^Wed,? 18 November$/.test(bookDate(ms)), bookDate(ms));
  is(/^18\s?–\s?22 November 2026$/.test(bookRange(ms, ms + 4 * 86400000)), bookRange(ms, ms + 4 * 86400000));
});

test('money and short numbers', () => {
  same([money(4.7, 'USD'), money(0.004, 'EUR'), money(0, 'USD'), money(3, 'POINTS'), short(8880000), short(620100), short(17)], ['$4.70', '€0.004', '$0.00', '3.00 POINTS', '8.88M', '620K', '17']);
  same([spoken('zh', () => money(4.7, 'CNY')), spoken('zh', () => short(62000)), spoken('zh', () => short(3255)), spoken('en', () => short(3255))], ['¥4.70', '6.2万', '3,255', '3.26K']);
  lang.value = 'en';
});
