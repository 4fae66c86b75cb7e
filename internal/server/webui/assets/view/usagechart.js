// Tokens by day, as stacked bars; the legend carries the day that is looked at.
import { html, useEffect, useLayoutEffect, useRef, useState } from './html.js';
import { bookDate, bookDay, num, short } from '../state/figures.js';
import { bar, look } from '../state/usage.js';
import { theme } from '../state/theme.js';
import { lang, t } from '../state/words.js';

// layers from the bottom up: their field, and the token of their colour.
const layers = [['cached', '--live-fill'], ['fresh', '--instructions-fill'], ['output', '--summary-fill'], ['summaries', '--compacted-fill']];
const HEIGHT = 220;
const named = (f) => t('usage.' + (f === 'output' ? 'out' : f));

// paint resolves tokens for a canvas, which knows no variables.
function paint(el, tokens) {
  const probe = document.createElement('i');
  el.append(probe);
  const out = tokens.map((token) => { probe.style.color = `var(${token})`; return getComputedStyle(probe).color; });
  probe.remove();
  return out;
}

// stacked are the heights to draw: the topmost first, since each is painted over by those below.
const stacked = (bars) => layers.map((_, i) => bars.map((b) => layers.slice(0, layers.length - i).reduce((sum, [f]) => sum + b[f], 0) || null)); // nothing is drawn of nothing

function options(Plot, el, bars) {
  const colours = paint(el, layers.map(([, token]) => token));
  const [line, faint, bg] = paint(el, ['--line', '--faint', '--bg']);
  const n = bars.length;
  const every = Math.max(1, Math.ceil(n / Math.max(2, Math.floor(el.clientWidth / 110))));
  const font = `12px ${getComputedStyle(el).fontFamily}`;
  const path = Plot.paths.bars({ size: [0.7, 32], radius: 0.06 });
  return {
    width: el.clientWidth, height: HEIGHT, legend: { show: false }, padding: [8, 20, 0, 0],
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } }, select: { show: false },
    scales: { x: { time: false, range: [-0.6, n - 0.4] }, y: { range: (_, __, max) => [0, max || 1] } },
    axes: [
      { stroke: faint, font, size: 32, grid: { show: false }, ticks: { show: false }, splits: () => Array.from({ length: Math.ceil(n / every) }, (_, i) => n - 1 - i * every).reverse(), values: (_, at) => at.map((i) => (bars[i] ? bookDay(bars[i].at) : '')) },
      { stroke: faint, font, size: 52, grid: { stroke: line, width: 1 }, ticks: { show: false }, values: (_, at) => at.map((x) => short(x)) },
    ],
    series: [{}, ...colours.slice().reverse().map((fill) => ({ fill, stroke: bg, width: 1, paths: path, points: { show: false } }))],
    hooks: { setCursor: [(u) => { if (u.cursor.event && u.cursor.idx !== null && u.cursor.idx !== undefined) look(u.cursor.idx); else if (u.cursor.event) bar.value = -1; }] },
  };
}

function useDark() {
  const [dark, set] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches);
  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)');
    const told = () => set(query.matches);
    query.addEventListener('change', told);
    return () => query.removeEventListener('change', told);
  }, []);
  return dark;
}

function Bars({ s }) {
  const at = useRef(null);
  const plot = useRef(null);
  const dark = useDark();
  useLayoutEffect(() => {
    let gone = false;
    let watch = null;
    import('../vendor/uplot.mjs').then(({ default: Plot }) => {
      if (gone) return;
      const el = at.current;
      plot.current = new Plot(options(Plot, el, s.bars), [s.bars.map((_, i) => i), ...stacked(s.bars)], el);
      watch = new ResizeObserver(() => plot.current && el.clientWidth > 0 && plot.current.setSize({ width: el.clientWidth, height: HEIGHT }));
      watch.observe(el);
    });
    return () => { gone = true; if (watch) watch.disconnect(); if (plot.current) plot.current.destroy(); plot.current = null; };
  }, [s, theme.value, dark, lang.value]);
  const i = bar.value;
  const keep = (to) => { look(to); const u = plot.current; if (u) u.setCursor({ left: u.valToPos(bar.value, 'x'), top: 10 }, false); };
  const onKeyDown = (e) => {
    const n = s.bars.length;
    const to = { ArrowRight: i + 1, ArrowUp: i + 1, ArrowLeft: i < 0 ? n - 1 : i - 1, ArrowDown: i < 0 ? n - 1 : i - 1, Home: 0, End: n - 1, PageUp: i + 7, PageDown: Math.max(0, i - 7) }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    keep(to);
  };
  const b = s.bars[i];
  const said = b ? `${dayOf(s, b)}: ${layers.map(([f]) => `${named(f)} ${num(b[f])}`).join(', ')}` : t('usage.allDays');
  return html`<div class="plot" ref=${at} role="slider" tabindex="0" aria-label=${t('usage.chart')} aria-valuemin="1" aria-valuemax=${s.bars.length} aria-valuenow=${Math.max(0, i) + 1} aria-valuetext=${said}
    onKeyDown=${onKeyDown} onMouseLeave=${() => { bar.value = -1; }} />`;
}

const dayOf = (s, b) => (s.weeks ? t('usage.week', bookDate(b.at)) : bookDate(b.at));

function Legend({ s }) {
  const b = s.bars[bar.value];
  const of = (f) => (b ? b[f] : s.bars.reduce((sum, x) => sum + x[f], 0));
  return html`<p class="legend"><span class="which">${b ? dayOf(s, b) : t('usage.allDays')}</span>
    ${layers.map(([f]) => html`<span key=${f}><i class=${f} />${named(f)} <b>${num(of(f))}</b></span>`)}</p>`;
}

const Table = ({ s }) => html`<details class="values"><summary>${t('usage.asTable')}</summary><table>
  <thead><tr><th scope="col">${t('usage.day')}</th>${layers.map(([f]) => html`<th scope="col" key=${f}>${named(f)}</th>`)}</tr></thead>
  <tbody>${s.bars.filter((b) => layers.some(([f]) => b[f])).map((b) => html`<tr key=${b.at}><th scope="row">${dayOf(s, b)}</th>${layers.map(([f]) => html`<td key=${f}>${num(b[f])}</td>`)}</tr>`)}</tbody></table></details>`;

export const Chart = ({ s }) => html`<section class="chart"><div class="top"><h2>${t(s.weeks ? 'usage.byWeek' : 'usage.byDay')}</h2><${Legend} s=${s} /></div>
  <${Bars} s=${s} /><${Table} s=${s} /></section>`;
