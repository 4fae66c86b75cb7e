// Dates as the list of conversations says them: the group that a time is in, and the time itself
// in a word.
import { dateIn } from './figures.js';
import { t } from './words.js';

const DAY = 86400000;

// days is how many midnights lie between two times, here.
export function days(ms, now) {
  const midnight = (x) => { const d = new Date(x); return new Date(d.getFullYear(), d.getMonth(), d.getDate()).getTime(); };
  return Math.round((midnight(now) - midnight(ms)) / DAY);
}

// group is what a time is listed under: {key, label}. Groups of later times come first.
export function group(ms, now) {
  const ago = days(ms, now);
  if (ago <= 0) return { key: 'today', label: t('side.today') };
  if (ago === 1) return { key: 'yesterday', label: t('side.yesterday') };
  if (ago <= 7) return { key: 'week', label: t('side.week') };
  if (ago <= 30) return { key: 'month', label: t('side.month') };
  const d = new Date(ms);
  const year = d.getFullYear() === new Date(now).getFullYear();
  return { key: `${d.getFullYear()}-${d.getMonth()}`, label: dateIn({ month: 'long', ...(year ? {} : { year: 'numeric' }) }, ms) };
}

// when is a time in a word: the hour today, the day within a week, the date before.
export function when(ms, now) {
  const ago = days(ms, now);
  if (Math.abs(now - ms) < 45000) return t('now');
  if (ago <= 0) return dateIn({ hour: '2-digit', minute: '2-digit' }, ms);
  if (ago <= 7) return dateIn({ weekday: 'short' }, ms);
  const year = new Date(ms).getFullYear() === new Date(now).getFullYear();
  return dateIn({ day: 'numeric', month: 'short', ...(year ? {} : { year: 'numeric' }) }, ms);
}
