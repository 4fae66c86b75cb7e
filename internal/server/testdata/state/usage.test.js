import { same, serve, test } from './check.js';
import { bar, barsOf, between, csv, dayAt, grouped, look, show, span, spanOf, summed, sums, timeOf } from '/assets/state/usage.js';

const DAY = 86400000;
const at = Date.parse('2026-11-20T00:00Z');
const used = (more) => ({ calls: 1, estimated_share: 0, input_tokens: 100, cached_tokens: 40, output_tokens: 10, reasoning_tokens: 5, total_tokens: 110, cost: 0, currency: '', ...more });

test('a span is whole days where the person is, the last one today', () => {
  const now = new Date(2026, 10, 22, 23, 59).getTime();
  same([dayAt(now), timeOf(dayAt(now)), timeOf(dayAt(now) + DAY) - 1], [Date.parse('2026-11-22T00:00Z'), new Date(2026, 10, 22).getTime(), new Date(2026, 10, 23).getTime() - 1]);
  same(spanOf('7', now), { name: '7', from: Date.parse('2026-11-16T00:00Z'), to: Date.parse('2026-11-23T00:00Z') - 1 });
  same([(spanOf('30', now).to + 1 - spanOf('30', now).from) / DAY, (spanOf('year', now).to + 1 - spanOf('year', now).from) / DAY], [30, 365]);
  same([between('2026-11-20', '2026-11-21'), between('2026-11-21', '2026-11-20'), between('', '2026-11-20')], [{ name: 'dates', from: at, to: at + 2 * DAY - 1 }, null, null]);
});

test('days without use have a bar too, and summaries stand apart', () => {
  const days = [used({ day: '2026-11-20', purpose: 'turn' }), used({ day: '2026-11-20', purpose: 'title' }), used({ day: '2026-11-22', purpose: 'summary' }), used({ day: '2026-11-30', purpose: 'turn' })];
  same(barsOf(days, { from: at, to: at + 3 * DAY - 1 }), { bars: [{ at, cached: 80, fresh: 120, output: 20, summaries: 0 }, { at: at + DAY, cached: 0, fresh: 0, output: 0, summaries: 0 },
    { at: at + 2 * DAY, cached: 0, fresh: 0, output: 0, summaries: 110 }], weeks: false });
  const year = barsOf([used({ day: '2026-11-22', purpose: 'turn' })], { from: at - 362 * DAY, to: at + 3 * DAY - 1 });
  same([year.weeks, year.bars.length, year.bars.at(-1).at, year.bars[52].output], [true, 53, at - 362 * DAY + 364 * DAY, 10]);
});

test('sums have those with the most tokens first, and currencies stay apart', () => {
  const out = grouped([used({ model: 'b', cost: 1, currency: 'USD' }), used({ model: 'b', cost: 2, currency: 'EUR', estimated_share: 1 }), used({ model: 'a' }), used({ model: 'c' })], (u) => u.model);
  same(out.map((x) => [x.name, x.calls, x.total, x.estimated, x.costs]), [['b', 2, 220, 1, { USD: 1, EUR: 2 }], ['a', 1, 110, 0, {}], ['c', 1, 110, 0, {}]]);
});

const asked = serve({
  'GET /api/usage': ({ query }) => {
    const q = new URLSearchParams(query);
    const by = q.get('group_by');
    if (q.get('conversation')) return { usage: [used({ purpose: 'turn', cost: 1, currency: 'USD', calls: 3 }), used({ purpose: 'summary', cost: 0.5, currency: 'USD' })], total: [] };
    return { total: [], usage: [used({ day: '2026-11-20', purpose: 'summary', model: 'm', project: 'p', conversation: by === 'conversation' ? 'x' : undefined, cost: 0.25, currency: 'USD' })] };
  },
  'GET /api/conversations/x': { id: 'x', title: '=1+1, "x"' },
});

test('the books of a span are read by day, model, project and conversation', async () => {
  await show({ name: 'dates', from: at, to: at + DAY - 1 });
  same(asked.filter((r) => r.at === 'GET /api/usage').map((r) => new URLSearchParams(r.query).get('group_by')), ['day,purpose', 'model', 'project', 'conversation', 'tool']);
  const first = new URLSearchParams(asked.find((r) => r.at === 'GET /api/usage').query);
  same([first.get('tz'), Number(first.get('from')), Number(first.get('to'))], [Intl.DateTimeFormat().resolvedOptions().timeZone, new Date(2026, 10, 20).getTime(), new Date(2026, 10, 21).getTime() - 1]);
  same([span.value.name, sums.value.total.calls, sums.value.summaries.costs, sums.value.conversations[0].title, sums.value.imported.calls, sums.value.tools], ['dates', 1, { USD: 0.25 }, '=1+1, "x"', 0, []]);
});

test('a bar is looked at, and the ends are ends', () => {
  sums.value = { ...sums.value, bars: [1, 2, 3] };
  same([[1, 9, -5].map((to) => { look(to); return bar.value; })], [[1, 2, 0]]);
  sums.value = null;
  look(1);
  same(bar.value, -1);
});

test('CSV says what is shown, a formula is text, and each currency has a line', () => {
  const s = summed({ days: [used({ day: '2026-11-20', purpose: 'turn' })], models: [used({ model: 'm', cost: 1, currency: 'USD' }), used({ model: 'm', cost: 2, currency: 'EUR' })], projects: [], conversations: [used({ conversation: 'x' })], tools: [used({ tool: 'codex', imported: true }), used({})] }, { from: at, to: at + DAY - 1 });
  s.conversations[0].title = '=1+1, "x"';
  same(csv(s).split('\r\n'), ['group,name,calls,input_tokens,cached_tokens,output_tokens,reasoning_tokens,total_tokens,cost,currency,estimated_calls', 'day,2026-11-20,,100,40,10,,110,,,',
    'model,m,2,200,80,20,10,220,1,USD,0', 'model,m,,,,,,,2,EUR,', 'conversation,"\'=1+1, ""x""",1,100,40,10,5,110,,,0', 'tool,codex,1,100,40,10,5,110,,,0', '']);
});

