// The conversations, of which only those in sight are drawn, however many there are.
import { html, useEffect, useLayoutEffect, useRef, useState } from './html.js';
import { Acts, toTrash } from './acts.js';
import { icon } from './icons.js';
import { Menu } from './menu.js';
import { Rename } from './rename.js';
import { agentsOf, toggle } from '../state/agents.js';
import * as conversations from '../state/conversations.js';
import { when } from '../state/dates.js';
import { iso, num, whole } from '../state/figures.js';
import { question } from '../state/panels.js';
import { href } from '../state/place.js';
import * as rows from '../state/rows.js';
import * as selection from '../state/selection.js';
import { mayWrite } from '../state/session.js';
import { conversation } from '../state/thread.js';
import { running } from '../state/turn.js';
import { t } from '../state/words.js';

const EDGE = 30; // items from the end at which the next page is read

const busy = (id) => conversations.running.value.has(id) || Boolean(running.value && running.value.conversation === id);

function Row({ item: { c, depth, key }, here, focused, naming, name, onKeyDown, onFocus }) {
  const picked = selection.chosen.value;
  const title = c.title || c.messages ? conversations.titleOf(c) : t('side.nothingSaid');
  const live = busy(c.id);
  const about = html`<span class="meta">${live && html`<i class="running" role="img" aria-label=${t('answering')} title=${t('answering')} />`}
    <time datetime=${iso(c.updated_at || 0)} title=${whole(c.updated_at || 0)}>${when(c.updated_at || 0, rows.now.value)}</time>
    <span title=${t('messages', c.messages)}>${num(c.messages)}</span><span class="project">${c.project}</span></span>`;
  const cls = `row d${depth}${here ? ' here' : ''}${picked ? ' choosing' : ''}`;
  if (naming) return html`<li class=${cls + ' naming'}><${Rename} of=${c} done=${() => name(null)} /></li>`;
  const pick = (e) => selection.toggle(c.id, e.shiftKey, rows.items.value.filter((x) => x.kind === 'row').map((x) => x.key));
  const press = (e) => {
    if (!picked && !(e.shiftKey && mayWrite.value)) return; // Ctrl opens another tab, as everywhere
    e.preventDefault();
    if (!picked) selection.begin(null);
    pick(e);
  };
  const more = (e) => {
    if (picked) return;
    e.preventDefault();
    e.currentTarget.querySelector('.more').click();
  };
  return html`<li class=${cls} onContextMenu=${more}>
    ${picked && html`<input type="checkbox" tabindex="-1" checked=${picked.has(c.id)} aria-label=${t('side.choose', title)} onClick=${pick} />`}
    <a href=${href(c.id)} data-key=${key} tabindex=${focused ? 0 : -1} aria-current=${here ? 'page' : null} aria-checked=${picked ? picked.has(c.id) : null} role=${picked ? 'checkbox' : null}
      title=${title} onClick=${press} onFocus=${onFocus} onKeyDown=${onKeyDown}
      onDblClick=${(e) => { e.preventDefault(); if (mayWrite.value && !picked) name(key); }}><span class="title">${title}</span>${about}</a>
    ${!picked && html`<${Menu} label=${t('side.more', title)} cls="ghost more" button=${icon('more')} tabindex="-1">
      ${() => html`<${Acts} c=${c} naming=${() => name(key)} />`}<//>`}</li>`;
}

const Below = ({ item: { c, n, open, depth } }) => html`<li class=${`below d${depth}`}><button type="button" class="count" tabindex="-1" aria-expanded=${open} onClick=${() => toggle(c.id)}>${icon('chevron')}${t('agents', n)}</button></li>`;

const Group = ({ item }) => html`<li class="group"><h2>${item.pinned && icon('pin')}${item.label}</h2></li>`;

// leads says whether one of the agents of c, or of theirs, is open.
const leads = (id, here, depth = 4) => depth > 0 && agentsOf(id).some((a) => a.id === here || leads(a.id, here, depth - 1));

const Nothing = () => html`<p class="none">${conversations.filter.value.trim() ? t('noMatch') : conversations.project.value ? t('side.noneHere') : t('side.none')}</p>`;

export function Rows() {
  const box = useRef(null);
  const [seen, setSeen] = useState({ from: 0, to: 30 });
  const [naming, name] = useState(null);
  const [focus, setFocus] = useState(null);
  const led = useRef(new Set());
  const wanted = useRef(null); // the row that gets the focus once it is drawn
  const items = rows.items.value;
  const tops = rows.places.value;
  const at = conversation.value && conversation.value.id;

  const look = () => {
    if (!box.current) return;
    const to = rows.part(rows.places.value, box.current.scrollTop, box.current.clientHeight);
    setSeen((was) => (was.from === to.from && was.to === to.to ? was : to));
    if (to.to > rows.items.value.length - EDGE) conversations.more();
  };
  useLayoutEffect(look, [items, tops]);
  useEffect(() => {
    const tick = setInterval(rows.tick, 60000);
    const watch = new ResizeObserver(look);
    watch.observe(box.current);
    return () => { clearInterval(tick); watch.disconnect(); };
  }, []);
  useEffect(() => { // the conversations that an open sub-agent works for show it, once
    const above = at ? items.filter((x) => x.kind === 'row' && leads(x.key, at)).map((x) => x.key) : [];
    for (const key of above) if (!led.current.has(key)) toggle(key, true);
    led.current = new Set(above);
  }, [at, items]);
  useEffect(() => { box.current.scrollTop = 0; }, [conversations.filter.value, conversations.project.value]);
  useLayoutEffect(() => {
    const el = wanted.current && box.current.querySelector(`[data-key="${CSS.escape(wanted.current)}"]`);
    if (!el) return;
    wanted.current = null;
    el.focus({ preventScroll: true });
  });

  const to = (key) => {
    const i = items.findIndex((x) => x.key === key);
    if (i < 0) return;
    const el = box.current;
    if (tops[i] < el.scrollTop) el.scrollTop = Math.max(0, tops[i] - 40);
    else if (tops[i + 1] > el.scrollTop + el.clientHeight) el.scrollTop = tops[i + 1] - el.clientHeight + 8;
    wanted.current = key;
    setFocus(key);
    look();
  };
  const onKeyDown = (item) => (e) => {
    if (e.altKey || e.ctrlKey || e.metaKey) return;
    const { c, key } = item;
    const page = Math.max(1, Math.floor(box.current.clientHeight / 60));
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -items.length, End: items.length }[e.key];
    const next = () => rows.beside(key, 1) !== key ? rows.beside(key, 1) : rows.beside(key, -1);
    if (by) { e.preventDefault(); to(rows.beside(key, by)); return; }
    if (e.key === 'ContextMenu' || (e.key === 'F10' && e.shiftKey)) {
      e.preventDefault();
      e.currentTarget.parentElement.querySelector('.more')?.click();
    } else if (e.key === 'F2' && mayWrite.value) { e.preventDefault(); name(key); }
    else if (e.key === 'Delete' && mayWrite.value && !selection.chosen.value) { e.preventDefault(); const after = next(); toTrash([c]).then(() => to(after)); }
    else if ((e.key === 'ArrowRight' || e.key === 'ArrowLeft') && agentsOf(c.id).length) { e.preventDefault(); toggle(c.id, e.key === 'ArrowRight'); }
    else if (e.key === ' ' && selection.chosen.value) { e.preventDefault(); e.currentTarget.click(); }
    else if (e.key === 'Escape' && selection.chosen.value) { e.stopPropagation(); selection.end(); }
  };
  const named = (key) => { name(key); if (key === null && naming) { wanted.current = naming; setFocus(naming); } };
  const shown = items.slice(seen.from, seen.to);
  const first = [focus, at].find((key) => key && shown.some((x) => x.kind === 'row' && x.key === key)) || (shown.find((x) => x.kind === 'row') || {}).key;
  const draw = (item) => (item.kind === 'group' ? html`<${Group} key=${item.key} item=${item} />` : item.kind === 'below' ? html`<${Below} key=${item.key} item=${item} />`
    : html`<${Row} key=${item.key} item=${item} here=${item.key === at} focused=${item.key === first} naming=${naming === item.key} name=${named} onFocus=${() => setFocus(item.key)} onKeyDown=${onKeyDown(item)} />`);
  return html`<div class="rows" ref=${box} onScroll=${look} tabindex="-1">${conversations.loaded.value && !items.length ? html`<${Nothing} />`
    : html`<ul style=${{ height: `${tops[tops.length - 1] + 12}px`, paddingTop: `${tops[Math.min(seen.from, items.length)] || 0}px` }}>${shown.map(draw)}</ul>`}</div>`;
}

// Chosen is what can be done with several at once.
export function Chosen() {
  const picked = selection.chosen.value;
  if (!picked) return null;
  const some = conversations.found(picked);
  const ask = (kind) => { if (some.length) question.value = { kind, some }; };
  return html`<div class="chosen" role="toolbar" aria-label=${t('side.chosen', picked.size)}><b>${t('side.chosen', picked.size)}</b>
    <button type="button" class="link" onClick=${() => { selection.chosen.value = new Set(rows.items.value.filter((x) => x.kind === 'row' && !x.depth).map((x) => x.key)); }}>${t('side.all')}</button><span class="gap" />
    <button type="button" class="link" onClick=${selection.end}>${t('cancel')}</button>
    <div class="acts">
      <button type="button" class="plain" disabled=${!some.length} onClick=${() => ask('move')}>${icon('folder')}${t('side.moveShort')}</button>
      <button type="button" class="plain" disabled=${!some.length} onClick=${() => ask('export')}>${icon('export')}${t('export')}</button>
      <button type="button" class="plain bad" disabled=${!some.length} onClick=${async () => { await toTrash(some); selection.end(); }}>${icon('trash')}${t('trash')}</button></div></div>`;
}
