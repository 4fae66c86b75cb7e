// Numbers, sizes and times as the page writes them, in its language.
import { lang, t } from './words.js';

// dated are the locales by which dates and times are written: the page's language, as it is
// written where the browser is. Numbers are the language's own everywhere, since the words of
// the page hold them too.
const dated = { en: 'en-GB', zh: 'zh-CN' };
const counted = { en: 'en-US', zh: 'zh-CN' };

const localeOf = (tag) => { try { return new Intl.Locale(tag); } catch { return null; } };

// begin takes the languages that the browser prefers: the first that is the page's and names
// a region says how dates look; or else the region of the first language, if it is another.
export function begin(languages) {
  const known = (languages || []).map(localeOf).filter(Boolean);
  for (const l of Object.keys(dated)) {
    const own = known.find((x) => x.language === l && x.region);
    const region = own ? own.region : known.length && known[0].language !== l ? known[0].maximize().region : null;
    dated[l] = region ? `${l}-${region}` : { en: 'en-GB', zh: 'zh-CN' }[l];
  }
  for (const at of Object.keys(memo)) delete memo[at];
}

const memo = {};
function format(kind, key, make) {
  const at = `${kind} ${key} ${lang.value}`;
  return (memo[at] ??= make((kind === 't' || kind === 'r' ? dated : counted)[lang.value]));
}

export const num = (n) => format('n', '', (l) => new Intl.NumberFormat(l)).format(n);
export const percent = (x) => format('p', '', (l) => new Intl.NumberFormat(l, { style: 'percent', maximumFractionDigits: 0 })).format(x);

// short is a number in three digits and a unit; without a unit, as in 3,255 in Chinese, all of its digits.
export const short = (n) => format('s', '', (l) => new Intl.NumberFormat(l, {
  notation: 'compact', useGrouping: 'always', maximumSignificantDigits: 3, maximumFractionDigits: 0, roundingPriority: 'morePrecision',
})).format(n);

// money is an amount in a currency; a code that is none stands behind the number.
export function money(x, currency) {
  const digits = x !== 0 && Math.abs(x) < 0.1 ? { maximumSignificantDigits: 2 } : { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  if (!/^[A-Z]{3}$/.test(currency)) return `${format('n', JSON.stringify(digits), (l) => new Intl.NumberFormat(l, digits)).format(x)} ${currency}`.trim();
  return format('m', currency + JSON.stringify(digits), (l) => new Intl.NumberFormat(l, { style: 'currency', currency, currencyDisplay: 'narrowSymbol', ...digits })).format(x);
}

export function bytes(n) {
  if (n < 1024) return `${num(n)} B`;
  const units = ['KB', 'MB', 'GB'];
  let i = -1;
  do { n /= 1024; i++; } while (n >= 1024 && i < 2);
  return `${n < 10 ? n.toFixed(1) : Math.round(n)} ${units[i]}`;
}

// seconds is how long something took, in ms.
export const seconds = (ms) => t('seconds', ms < 10000 ? (Math.max(100, ms) / 1000).toFixed(1) : num(Math.round(ms / 1000)));

const sameDay = (a, b) => a.toDateString() === b.toDateString();

// clock is a time for a message: the hour today, the date before.
export function clock(ms) {
  const d = new Date(ms);
  const now = new Date();
  const hour = { hour: '2-digit', minute: '2-digit' };
  if (sameDay(d, now)) return format('t', 'hour', (l) => new Intl.DateTimeFormat(l, hour)).format(d);
  const day = { day: 'numeric', month: 'short', ...hour };
  if (d.getFullYear() !== now.getFullYear()) day.year = 'numeric';
  return format('t', day.year ? 'year' : 'day', (l) => new Intl.DateTimeFormat(l, day)).format(d);
}

export const whole = (ms) => format('t', 'whole', (l) => new Intl.DateTimeFormat(l, { dateStyle: 'full', timeStyle: 'medium' })).format(new Date(ms));
// dateIn is a time in the fields that are asked for, as all dates of the page are written.
export const dateIn = (fields, ms) => format('t', JSON.stringify(fields), (l) => new Intl.DateTimeFormat(l, fields)).format(ms);
export const iso = (ms) => new Date(ms).toISOString();

// ago is how long since, in one word or two.
export function ago(ms) {
  const s = Math.max(0, (Date.now() - ms) / 1000);
  if (s < 45) return t('now');
  const steps = [[60, 'minute', 3600], [3600, 'hour', 86400], [86400, 'day', 7 * 86400], [7 * 86400, 'week', 30 * 86400], [30 * 86400, 'month', 365 * 86400], [365 * 86400, 'year', Infinity]];
  const [unit, name] = steps.find(([, , to]) => s < to);
  return format('r', '', (l) => new Intl.RelativeTimeFormat(l, { numeric: 'always', style: 'narrow' })).format(-Math.max(1, Math.round(s / unit)), name);
}

// day is a date for people: without the year where it is this one.
export function day(ms) {
  const d = new Date(ms);
  const year = d.getFullYear() === new Date().getFullYear();
  return format('t', year ? 'onlyday' : 'fullday', (l) => new Intl.DateTimeFormat(l, { day: 'numeric', month: 'short', ...(year ? {} : { year: 'numeric' }) })).format(d);
}

// monthOf labels a place in a long log: the month, or within one the day.
export const monthOf = (ms, long) => format('t', long ? 'month' : 'dayofmonth', (l) => new Intl.DateTimeFormat(l, long ? { month: 'short' } : { day: 'numeric', month: 'numeric' })).format(new Date(ms));

// date is day with a short month.
export function date(ms) {
  const d = new Date(ms);
  const year = d.getFullYear() === new Date().getFullYear();
  return format('t', year ? 'short' : 'full', (l) => new Intl.DateTimeFormat(l, { day: 'numeric', month: 'short', ...(year ? {} : { year: 'numeric' }) })).format(d);
}

export const dayWithYear = (ms) => format('t', 'fulldate', (l) => new Intl.DateTimeFormat(l, { day: 'numeric', month: 'short', year: 'numeric' })).format(new Date(ms));

// A day of the books is written as the midnight of its date in UTC; see usage.js.
const utc = (key, fields) => (ms) => format('t', 'utc ' + key, (l) => new Intl.DateTimeFormat(l, { timeZone: 'UTC', ...fields })).format(new Date(ms));

export const bookDay = utc('tick', { day: 'numeric', month: 'short' });
export const bookDate = utc('date', { weekday: 'short', day: 'numeric', month: 'long' });
const bookFull = () => format('t', 'utc range', (l) => new Intl.DateTimeFormat(l, { timeZone: 'UTC', day: 'numeric', month: 'long', year: 'numeric' }));

// bookRange is from one day of the books to another.
export const bookRange = (from, to) => bookFull().formatRange(new Date(from), new Date(to));
