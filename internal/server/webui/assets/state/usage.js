// What the calls to models have used, over some days of the books, as they are days where the
// person is. A day is the ms of its midnight in UTC, whatever the zone: so all are equally long.
import { signal } from '../vendor/signals-core.mjs';
import { api } from './api.js';
import { titleFor } from './conversations.js';
import { attempt } from './notices.js';
import { zone } from './zone.js';

const DAY = 86400000;
const TOP = 20; // conversations
const WEEKS = 92; // more days than this are shown by weeks

export const span = signal({ name: '30', from: 0, to: 0 }); // 7, 30, year or dates; Unix ms, to is in the last day
export const sums = signal(null); // what summed returns; null until it is read
export const bar = signal(-1); // which bar is looked at; -1 for none

// dayAt is the day of a time where the person is, and timeOf when that day begins there.
export const dayAt = (ms) => { const d = new Date(ms); return Date.UTC(d.getFullYear(), d.getMonth(), d.getDate()); };
export const timeOf = (day) => { const d = new Date(day); return new Date(d.getUTCFullYear(), d.getUTCMonth(), d.getUTCDate()).getTime(); };

// spanOf is so many days up to now.
export function spanOf(name, now) {
  const today = dayAt(now);
  const days = { 7: 7, 30: 30, year: 365 }[name];
  return { name, from: today - (days - 1) * DAY, to: today + DAY - 1 };
}

// between is from one day to another, both as YYYY-MM-DD and included; null if that cannot be.
export function between(from, to) {
  const [a, b] = [Date.parse(from + 'T00:00Z'), Date.parse(to + 'T00:00Z')];
  return a >= 0 && b >= a ? { name: 'dates', from: a, to: b + DAY - 1 } : null;
}

const zero = () => ({ calls: 0, input: 0, cached: 0, output: 0, reasoning: 0, total: 0, estimated: 0, costs: {} });

// add puts an entry of the books into a sum. Currencies stay apart.
function add(sum, u) {
  sum.calls += u.calls;
  sum.input += u.input_tokens;
  sum.cached += u.cached_tokens;
  sum.output += u.output_tokens;
  sum.reasoning += u.reasoning_tokens;
  sum.total += u.total_tokens;
  sum.estimated += u.calls * u.estimated_share;
  if (u.currency) sum.costs[u.currency] = (sum.costs[u.currency] || 0) + u.cost;
  return sum;
}

const all = (us) => us.reduce(add, zero());

// grouped adds entries up by what of says, those with the most tokens first.
export function grouped(us, of) {
  const by = new Map();
  for (const u of us) by.set(of(u), add(by.get(of(u)) || zero(), u));
  return [...by].map(([name, sum]) => ({ name, ...sum })).sort((a, b) => b.total - a.total || (a.name < b.name ? -1 : 1));
}

// barsOf are the days of a span, or its weeks, each with what was used: calls for summaries
// stand apart from all others.
export function barsOf(days, { from, to }) {
  const count = Math.floor((to - from) / DAY) + 1;
  const wide = count > WEEKS ? 7 : 1;
  const bars = Array.from({ length: Math.ceil(count / wide) }, (_, i) => ({ at: from + i * wide * DAY, cached: 0, fresh: 0, output: 0, summaries: 0 }));
  for (const u of days) {
    const b = bars[Math.floor((Date.parse(u.day + 'T00:00Z') - from) / DAY / wide)];
    if (!b) continue;
    if (u.purpose === 'summary') { b.summaries += u.input_tokens + u.output_tokens; continue; }
    b.cached += u.cached_tokens;
    b.fresh += u.input_tokens - u.cached_tokens;
    b.output += u.output_tokens;
  }
  return { bars, weeks: wide > 1 };
}

// summed is what the page shows of the entries that were read.
export function summed({ days, models, projects, conversations, tools }, of) {
  const brought = tools.filter((u) => u.imported);
  return { of, ...barsOf(days, of), total: all(days), summaries: all(days.filter((u) => u.purpose === 'summary')),
    models: grouped(models, (u) => u.model), projects: grouped(projects, (u) => u.project), conversations: grouped(conversations, (u) => u.conversation),
    imported: all(brought), tools: grouped(brought, (u) => u.tool) };
}

let asked = 0;

// show reads the books of a span.
export async function show(of) {
  const mine = ++asked;
  span.value = of;
  const read = (group_by, more) => api.usage({ from: timeOf(of.from), to: timeOf(of.to + 1) - 1, tz: zone(), group_by, ...more }).then((r) => r.usage);
  const got = await attempt(() => Promise.all([read('day,purpose'), read('model'), read('project'), read('conversation', { top: TOP }), read('tool')]));
  if (!got || mine !== asked) return;
  const [days, models, projects, conversations, tools] = got;
  const out = summed({ days, models, projects, conversations, tools }, of);
  const titles = await Promise.all(out.conversations.map((c) => titleFor(c.name)));
  if (mine !== asked) return;
  out.conversations.forEach((c, i) => { c.title = titles[i]; });
  bar.value = -1;
  sums.value = out;
}

// look moves to another bar; past the ends it stays.
export function look(to) {
  const n = sums.peek() ? sums.peek().bars.length : 0;
  bar.value = n ? Math.max(0, Math.min(n - 1, to)) : -1;
}

// cell is a field of CSV. What a spreadsheet would take for a formula is text.
function cell(x) {
  const text = typeof x === 'number' ? String(x) : /^[=+\-@\t\r]/.test(x) ? "'" + x : x;
  return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

// csv is what is shown, a line for each entry and currency.
export function csv(s) {
  const lines = [['group', 'name', 'calls', 'input_tokens', 'cached_tokens', 'output_tokens', 'reasoning_tokens', 'total_tokens', 'cost', 'currency', 'estimated_calls']];
  const put = (group, all) => all.forEach((x) => {
    const costs = Object.entries(x.costs);
    const figures = [x.calls, x.input, x.cached, x.output, x.reasoning, x.total];
    lines.push([group, x.title || x.name, ...figures, ...(costs.length ? [costs[0][1], costs[0][0]] : ['', '']), Math.round(x.estimated)]);
    for (const [currency, cost] of costs.slice(1)) lines.push([group, x.title || x.name, '', '', '', '', '', '', cost, currency, '']); // the figures are counted once
  });
  for (const b of s.bars) lines.push([s.weeks ? 'week' : 'day', new Date(b.at).toISOString().slice(0, 10), '', b.cached + b.fresh, b.cached, b.output, '', b.cached + b.fresh + b.output + b.summaries, '', '', '']);
  put('model', s.models);
  put('project', s.projects);
  put('conversation', s.conversations);
  put('tool', s.tools);
  return lines.map((l) => l.map(cell).join(',')).join('\r\n') + '\r\n';
}
