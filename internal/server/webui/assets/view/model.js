// The request, as the model sees it: what is shown and what it weighs, and its layers in the
// order they are sent.
import { html, useEffect, useLayoutEffect, useRef, useState } from './html.js';
import { icon } from './icons.js';
import { Item, Menu } from './menu.js';
import { around, Layer } from './modelblocks.js';
import { heldTop } from './eyes.js';
import * as cards from '../state/cards.js';
import { editing, text as draftText } from '../state/draft.js';
import { bytes, clock, num } from '../state/figures.js';
import * as keyboard from '../state/keyboard.js';
import { kindOf, holds, runs } from '../state/layers.js';
import { firstLine, pin } from '../state/message.js';
import * as model from '../state/model.js';
import { say } from '../state/notices.js';
import { plain } from '../state/pieces.js';
import { keep, turn as seen } from '../state/sees.js';
import { conversation, target } from '../state/thread.js';
import { t } from '../state/words.js';

const most = 12; // past turns that the menu offers

// Which is the menu of requests: the next one, and what past turns sent.
function Which() {
  const past = model.turns.value.slice(0, most);
  const now = past.find((x) => x.id === seen.value);
  const label = !seen.value ? t('model.next') : now ? t('model.sawAt', `#${num(now.seq)}`) : t('model.saw');
  return html`<${Menu} label=${`${label}: ${t('model.choose')}`} cls="plain which" button=${html`<span>${label}</span>${icon('caret')}`}>
    <${Item} checked=${!seen.value} onClick=${() => model.chooseTurn(null)}>${t('model.next')}<//>
    ${past.length > 0 && html`<p class="group">${t('model.pastTurns')}</p>`}
    ${past.map((x) => html`<${Item} key=${x.id} checked=${x.id === seen.value} onClick=${() => model.chooseTurn(x.id)}>
      <b>#${num(x.seq)}</b><span class="asked">${firstLine(plain(x.parts.filter((p) => p.type === 'text')) || plain(x.parts))}</span><small>${clock(x.at)}</small><//>`)}<//>`;
}

function Steps({ request: r }) {
  if (r.steps.length < 2) return null;
  const at = r.manifest.step;
  const onKeyDown = (e) => {
    const to = e.key === 'ArrowRight' ? e.target.nextElementSibling : e.key === 'ArrowLeft' ? e.target.previousElementSibling : null;
    if (to) { e.preventDefault(); to.focus(); to.click(); }
  };
  return html`<div class="switch small" role="radiogroup" aria-label=${t('model.steps')} onKeyDown=${onKeyDown}>${r.steps.map((s) => html`<button key=${s.step} type="button" role="radio"
    aria-checked=${s.step === at} tabindex=${s.step === at ? 0 : -1} aria-label=${t('model.step', s.step)} title=${t('model.step', s.step)} onClick=${() => model.chooseStep(s.step)}>${s.step}</button>`)}</div>`;
}

async function copy() {
  await navigator.clipboard.writeText(model.asJSON());
  say(t('copied'));
}

function Bar() {
  const r = model.request.value;
  const m = r && r.manifest;
  const facts = m ? [m.bytes > 0 && bytes(m.bytes), r.turn && m.sent_at && t('model.sentAt', clock(m.sent_at)), m.reused > 0 && t('model.reused', num(m.reused))].filter(Boolean) : [];
  return html`<div class="requestbar"><${Which} />${r && html`<${Steps} request=${r} />`}
    ${m && html`<p><b>${num(m.tokens)}</b> ${t('model.tokens')}<span class="also">${facts.map((x) => ` · ${x}`)}</span></p>`}<span class="gap" />
    ${m && model.items.value.length > 0 && html`<button type="button" class="ghost text copy" aria-label=${t('model.copy')} title=${t('model.copy')} onClick=${copy}>${icon('copy')}<span>${t('model.copy')}</span></button>`}</div>`;
}

function Trouble({ why }) {
  return html`<div class="sorry" role="alert"><p>${t('model.failed', why.trim() || t('model.offline'))}</p>
    <p><button type="button" class="plain" onClick=${model.load}>${t('model.again')}</button> ${seen.value && html`<button type="button" class="plain" onClick=${() => model.chooseTurn(null)}>${t('model.next')}</button>`}</p></div>`;
}

const stops = (el) => [...el.querySelectorAll('[data-stop]')].filter((x) => x.offsetParent !== null);

const edge = 44; // pixels at the top that the face of a card may cover

// move puts the focus on the next card or message, or the one before.
function move(el, by) {
  const all = stops(el);
  const now = document.activeElement && document.activeElement.closest('[data-stop]');
  const top = el.getBoundingClientRect().top;
  const i = now ? all.indexOf(now) + by : by > 0 ? all.findIndex((x) => x.getBoundingClientRect().top >= top) : all.findLastIndex((x) => x.getBoundingClientRect().top < top);
  const to = all[Math.max(0, Math.min(all.length - 1, i))];
  if (!to) return;
  to.focus({ preventScroll: true });
  const [at, room] = [to.getBoundingClientRect(), el.getBoundingClientRect()];
  if (at.top < room.top + edge) el.scrollTop += at.top - room.top - edge;
  else if (at.bottom > room.bottom) el.scrollTop += Math.min(at.bottom - room.bottom + 8, at.top - room.top - edge);
}

const focused = () => document.activeElement && document.activeElement.closest('.model [data-stop]');

function openFocused() {
  const el = focused();
  const b = el && (el.matches('[aria-expanded]') ? el : el.querySelector('[aria-expanded]'));
  if (b) b.click();
}

function pinFocused() {
  const el = focused();
  const seq = el && Number(el.dataset.seq || 0);
  if (seq && !el.dataset.last) pin({ seq });
}

// bring opens what is around a message and returns whether it can be there.
async function bring(seq, show) {
  const item = model.where(seq);
  if (!item) return false;
  if (kindOf(item) === 'compacted') return cards.reveal(item.ref, seq);
  for (const b of model.blocks.value) {
    if (b.kind !== 'messages') continue;
    const run = runs(b.items).find((x) => x.run && x.run.some((y) => holds(y, seq)));
    if (run) show(run.first, around(run.run, seq));
  }
  return true;
}

export function Model() {
  const el = useRef(null);
  const end = useRef(false);
  const [windows, setWindows] = useState({});
  const show = (first, w) => setWindows((all) => ({ ...all, [first]: w }));
  const id = conversation.value.id;
  const blocks = model.blocks.value;
  const r = model.request.value;
  const aim = model.aim.value;
  const stale = Boolean(r) && (r.conversation !== id || r.turn !== seen.value || (model.step.value > 0 && r.manifest.step !== model.step.value));
  const typed = !seen.value && !editing.value && draftText.value.trim() ? draftText.value : null;

  useEffect(() => model.follow(), []);
  useEffect(() => { cards.visit(id); }, [id, r && r.manifest.layers && blocks.length]);
  useEffect(() => { setWindows({}); }, [id, seen.value]);
  useEffect(() => {
    const ends = [keyboard.on('next', () => move(el.current, 1)), keyboard.on('previous', () => move(el.current, -1)),
      keyboard.on('open', openFocused), keyboard.on('pin', pinFocused)];
    return () => ends.forEach((end) => end());
  }, []);

  // A message that was in view before, or that is gone to, is brought to its place.
  useEffect(() => { if (keep.value) { model.aim.value = { seq: keep.value, top: heldTop() }; keep.value = 0; } }, [keep.value]);
  const to = target.value;
  const came = useRef(to); // where your view went is not gone to again
  useEffect(() => { if (to && to.seq && to !== came.current) model.aim.value = { seq: to.seq }; }, [to]);
  useLayoutEffect(() => {
    if (!aim || !r || r.conversation !== id) return;
    bring(aim.seq, show).then(() => requestAnimationFrame(() => { if (model.aim.value === aim && el.current) { arrive(el.current, aim); model.aim.value = null; } }));
  }, [aim, r]);
  useLayoutEffect(() => { if (end.current && !aim) el.current.scrollTop = el.current.scrollHeight; });

  const scrolled = () => { const s = el.current; end.current = s.scrollHeight - s.scrollTop - s.clientHeight < 32; };
  return html`<${Bar} /><div class="scroll model" ref=${el} onScroll=${scrolled} tabindex="-1" role="region" aria-label=${t('model.label')} aria-busy=${model.loading.value || stale}>
    ${model.trouble.value && html`<${Trouble} why=${model.trouble.value} />`}
    ${!r && !model.trouble.value && html`<p class="hush" role="status">${t('loading')}</p>`}
    ${r && r.manifest.forwarded && html`<p class="note">${t('model.forwarded')}</p>`}
    ${r && r.manifest.partial && html`<p class="note">${t(blocks.length ? 'model.inexact' : 'model.partial')}</p>`}
    ${r && !blocks.length && !r.manifest.partial && !typed && html`<p class="hush">${t('model.empty')}</p>`}
    <div class=${`lane${stale ? ' stale' : ''}`}>${blocks.filter((b) => b.kind !== 'draft' || typed !== null).map((b, i) => html`<${Layer} key=${b.kind + i} block=${b} windows=${windows} show=${show} typed=${b.kind === 'draft' ? typed : null} />`)}
      ${typed !== null && r && !blocks.some((b) => b.kind === 'draft') && html`<${Layer} block=${{ kind: 'draft', tokens: 0, items: [{ parts: [] }] }} typed=${typed} />`}</div></div>`;
}

// arrive scrolls to a message: to where it was before, or to the middle. What comes into view is
// measured only then, so it looks again for some frames.
function arrive(el, aim, tries = 5) {
  const { seq, top, within } = aim;
  const hit = (within && [...el.querySelectorAll(`[data-seq="${seq}"]`)].find((x) => x.closest('.stand'))) || el.querySelector(`.orig[data-seq="${seq}"], .single[data-seq="${seq}"]`)
    || [...el.querySelectorAll('[data-last]')].findLast((x) => Number(x.dataset.seq) <= seq && seq <= Number(x.dataset.last));
  if (!hit) return;
  const [at, room] = [hit.getBoundingClientRect(), el.getBoundingClientRect()];
  el.scrollTop += at.top - (top === undefined ? room.top + Math.max(0, (room.height - at.height) / 2) : Math.max(room.top, top));
  if (tries > 0) requestAnimationFrame(() => { if (el.isConnected && !model.aim.value) arrive(el, aim, tries - 1); });
}
