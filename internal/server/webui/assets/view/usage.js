// What was used, by day, model, project and conversation.
import { html, useEffect, useState } from './html.js';
import { Menu } from './header.js';
import { icon } from './icons.js';
import { Chart } from './usagechart.js';
import { costs, Tables } from './usagetables.js';
import { bookRange, num, percent, short } from '../state/figures.js';
import { between, csv, show, span, spanOf, sums } from '../state/usage.js';
import { t } from '../state/words.js';
import { zone } from '../state/zone.js';

const names = ['7', '30', 'year', 'dates'];

// Range chooses the days: some up to now, or from one to another.
function Range() {
  const [asking, ask] = useState(false);
  const of = span.value;
  const pick = (name) => { ask(name === 'dates'); if (name !== 'dates') show(spanOf(name, Date.now())); };
  const now = asking ? 'dates' : of.name;
  const onKeyDown = (e) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (!by) return;
    e.preventDefault();
    const to = (names.indexOf(now) + by + names.length) % names.length;
    pick(names[to]);
    e.currentTarget.children[to].focus();
  };
  return html`<div class="ranges"><div class="switch" role="radiogroup" aria-label=${t('usage.range')} onKeyDown=${onKeyDown}>${names.map((name) => html`<button type="button" role="radio" key=${name}
    aria-checked=${now === name} tabindex=${now === name ? 0 : -1} onClick=${() => pick(name)}>${t('usage.' + name)}</button>`)}</div>
    ${asking && html`<${Dates} of=${of} />`}</div>`;
}

const iso = (ms) => new Date(ms).toISOString().slice(0, 10);

function Dates({ of }) {
  const [from, setFrom] = useState(iso(of.from));
  const [to, setTo] = useState(iso(of.to));
  const wanted = between(from, to);
  const submit = (e) => { e.preventDefault(); if (wanted) show(wanted); };
  return html`<form class="dates" onSubmit=${submit}><label>${t('usage.from')} <input type="date" required value=${from} max=${to} onInput=${(e) => setFrom(e.currentTarget.value)} /></label>
    <label>${t('usage.to')} <input type="date" required value=${to} min=${from} onInput=${(e) => setTo(e.currentTarget.value)} /></label>
    <button type="submit" class="plain" disabled=${!wanted}>${t('usage.show')}</button></form>`;
}

function save() {
  const a = document.createElement('a');
  const { from, to } = sums.value.of;
  a.href = URL.createObjectURL(new Blob([csv(sums.value)], { type: 'text/csv' }));
  a.download = `scrollback-usage-${iso(from)}-${iso(to)}.csv`;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10000);
}

const Figure = ({ name, value, fact }) => html`<div><dt>${name}</dt><dd><b>${value}</b><span>${fact}</span></dd></div>`;

function Totals({ s }) {
  const { total: a, summaries: b, imported: c } = s;
  const priced = Object.keys(a.costs).length > 0;
  return html`<dl class="totals">
    <${Figure} name=${t('usage.calls')} value=${num(a.calls)} fact=${t(b.calls && !b.total ? 'usage.unbooked' : 'usage.ofSummaries', num(b.calls)) + (c.calls ? t('usage.andImported', num(c.calls)) : '')} />
    <${Figure} name=${t('usage.input')} value=${short(a.input)} fact=${t('usage.fromCache', percent(a.input ? a.cached / a.input : 0))} />
    <${Figure} name=${t('usage.output')} value=${short(a.output)} fact=${t('usage.ofReasoning', short(a.reasoning))} />
    <${Figure} name=${t('usage.cost')} value=${costs(a.costs)} fact=${priced ? t('usage.forSummaries', Object.keys(b.costs).length ? costs(b.costs) : costs({ [Object.keys(a.costs)[0]]: 0 })) : t('usage.noPrice')} />
    <${Figure} name=${t('usage.estimated')} value=${percent(a.calls ? a.estimated / a.calls : 0)} fact=${a.estimated ? t('usage.reported') : t('usage.allReported')} /></dl>`;
}

export function Usage() {
  const s = sums.value;
  const of = span.value;
  useEffect(() => { show(of.name === 'dates' && of.from ? of : spanOf(of.name === 'dates' ? '30' : of.name, Date.now())); }, []);
  return html`<header class="head"><div class="left"><${Menu} /><div class="name"><h1>${t('usage.title')}</h1>
      ${of.from > 0 && html`<p class="facts">${bookRange(of.from, of.to)} · ${t('usage.zone', zone() || 'UTC')}</p>`}</div></div>
    <${Range} />
    <div class="right"><button type="button" class="ghost text" disabled=${!s || !s.total.calls} title=${t('usage.csvHint')} aria-label=${t('usage.csvHint')} onClick=${save}>${icon('import')} ${t('usage.csv')}</button></div></header>
  <div class="place usage" aria-busy=${s === null}>${s === null ? html`<p class="wait">${t('usage.loading')}</p>`
    : s.total.calls === 0 ? html`<div class="none"><p><b>${t('usage.none')}</b></p><p>${t('usage.noneHint')}</p></div>`
      : html`<${Totals} s=${s} /><${Chart} s=${s} /><${Tables} s=${s} />`}</div>`;
}
