// The open conversation, as you see it: its messages and the step being written.
import { html, useEffect, useLayoutEffect, useRef } from './html.js';
import { icon } from './icons.js';
import { Asked, Message, Unanswered, Writing } from './message.js';
import { compacted, outcome, range, receiptOf, saved } from '../state/context.js';
import { lit as pointed } from '../state/lit.js';
import { read } from '../state/reader.js';
import * as thread from '../state/thread.js';
import * as turn from '../state/turn.js';
import { t } from '../state/words.js';

// scroller keeps what is read in place: at the end it follows, elsewhere it holds on to the
// first message in view while others are put in above.
const scroller = {
  el: null, stuck: true, anchor: null, mine: 0,
  before() {
    this.anchor = null;
    if (!this.el || (this.stuck && !thread.newer.value)) return;
    const top = this.el.getBoundingClientRect().top;
    for (const m of this.el.querySelectorAll('.msg[data-seq]')) {
      const box = m.getBoundingClientRect();
      if (box.bottom > top) { this.anchor = { seq: m.dataset.seq, top: box.top }; return; }
    }
  },
  after() {
    if (!this.el) return;
    const held = this.anchor && document.getElementById('m' + this.anchor.seq);
    if (held) this.el.scrollTop += held.getBoundingClientRect().top - this.anchor.top;
    else if (this.stuck) this.el.scrollTop = this.el.scrollHeight;
    this.anchor = null;
  },
};
thread.eyes.before = () => scroller.before();
thread.eyes.atEnd = () => scroller.stuck;

const NEAR = 400; // pixels from an end at which more is asked for

function scrolled() {
  const { el } = scroller;
  const below = el.scrollHeight - el.scrollTop - el.clientHeight;
  scroller.stuck = below < 48 && !thread.newer.value;
  el.parentElement.classList.toggle('away', below > 240 || thread.newer.value);
  if (el.scrollTop < NEAR) thread.loadOlder();
  if (below < NEAR) thread.loadNewer();
}

// Crease marks where a compacted stretch ends.
function Crease({ id, stretch: x }) {
  const r = receiptOf(x);
  return html`<div class="crease" title=${t('compactedHint')}>${icon('compact')}<span>${t('compacted', range(x))}
    ${r && html` · ${saved(r)}`}</span>
    <button type="button" class="link" onClick=${() => read(id, x.ref, range(x))}>${t('readOriginal')}</button></div>`;
}

function Messages() {
  const c = thread.conversation.value;
  const stretches = compacted.value;
  const ends = new Map(stretches.map((x) => [x.last_seq, x]));
  const boundary = stretches.length ? stretches[stretches.length - 1].last_seq : 0;
  const lit = thread.target.value && thread.target.value.seq;
  const live = turn.running.value;
  const answers = new Map(thread.messages.value.filter((m) => m.role === 'assistant').map((m) => [m.turn_id, m.seq])); // the last of each turn
  const out = [];
  for (const m of thread.messages.value) {
    const isCompacted = m.seq <= boundary && stretches.some((x) => m.seq >= x.first_seq && m.seq <= x.last_seq);
    const told = answers.get(m.turn_id) === m.seq && !(live && live.turn === m.turn_id);
    out.push(html`<${Message} key=${m.id} message=${m} meta=${told ? thread.meta.value[m.turn_id] : null}
      fresh=${live && live.turn === m.turn_id ? turn.references.value : undefined} compacted=${isCompacted} lit=${m.seq === lit || m.seq === pointed.value} />`);
    for (const e of thread.after(m.seq)) {
      if (live && e.turn_id === live.turn) continue; // it is being read as it is written
      out.push(html`<${Unanswered} key=${e.turn_id} entry=${e} meta=${answers.has(e.turn_id) ? null : thread.meta.value[e.turn_id]} after=${m} conversation=${c.id} busy=${live !== null} />`);
    }
    if (ends.has(m.seq)) out.push(html`<${Crease} key=${'crease' + m.seq} id=${c.id} stretch=${ends.get(m.seq)} />`);
  }
  return html`${thread.older.value ? html`<p class="edge">${t('loading')}</p>` : html`<p class="edge">${t('start')}</p>`}${out}`;
}

function Live() {
  const r = turn.running.value;
  const step = turn.step.value;
  const said = turn.asked.value;
  useLayoutEffect(() => { scroller.after(); });
  if (thread.newer.value) return null;
  return html`${said && html`<${Asked} parts=${said.parts} id=${r ? r.conversation : ''} references=${turn.references.value} />`}
    ${turn.compacting.value && html`<div class="crease" role="status">${icon('compact')}<span>${t('compacting')}</span></div>`}
    ${turn.compactions.value.filter((r) => r.result === 'compacted').map((r) => html`<div class="crease" key=${r.last_seq}>${icon('compact')}<span>
      ${outcome(r)}</span></div>`)}
    ${r && html`<${Writing} step=${step} searching=${turn.searching.value} searches=${turn.searches.value} conversation=${r.conversation} />`}
    ${turn.shaky.value && html`<p class="edge">${t('reconnecting')}</p>`}`;
}

const Empty = () => html`<div class="empty"><div class="mark">${icon('map')}</div><h2>${t('emptyTitle')}</h2><p>${t('empty')}</p><p class="quiet">${t('emptyOffline')}</p></div>`;

function toEnd() {
  scroller.stuck = true;
  if (thread.newer.value) thread.toEnd();
  else scroller.el.scrollTo({ top: scroller.el.scrollHeight, behavior: 'smooth' });
}

export const follow = () => { scroller.stuck = true; };

export function Thread() {
  const el = useRef(null);
  const messages = thread.messages.value;
  const aim = thread.target.value;
  const aimed = useRef(null);
  const blank = !messages.length && !turn.asked.value && !turn.running.value && !thread.opening.value;

  useLayoutEffect(() => {
    scroller.el = el.current;
    if (aim && aim !== aimed.current && messages.length) {
      aimed.current = aim;
      scroller.anchor = null;
      const hit = aim.seq && document.getElementById('m' + aim.seq);
      scroller.stuck = !aim.seq;
      if (hit) hit.scrollIntoView({ block: 'center' });
      else el.current.scrollTop = el.current.scrollHeight;
      if (aim.seq) setTimeout(() => { if (thread.target.value === aim) thread.target.value = null; }, 3000);
    } else scroller.after();
    scrolled();
  }, [messages, aim, compacted.value, thread.turns.value]);

  useEffect(() => {
    const watch = new ResizeObserver(() => scroller.stuck && scroller.after());
    watch.observe(el.current);
    return () => { watch.disconnect(); scroller.el = null; };
  }, []);

  return html`<div class="scroll" ref=${el} onScroll=${scrolled} tabindex="-1">
      ${blank ? html`<${Empty} />` : html`<div class="column">
        ${messages.length > 0 && html`<${Messages} />`}<${Live} /></div>`}
    </div>
    <div class="above"><button type="button" class="tolatest" onClick=${toEnd}>${icon('down')} ${t('latest')}</button></div>`;
}
