// The open conversation, as you see it: its messages, where cards stand for them, and the step
// being written.
import { html, useEffect, useLayoutEffect, useRef } from './html.js';
import { Goto, keys } from './threadkeys.js';
import { icon } from './icons.js';
import { Asked, Message, tookOf, Unanswered, Writing } from './message.js';
import { scroller } from './scroller.js';
import { compacted, manifest, range } from '../state/context.js';
import * as leftout from '../state/leftout.js';
import { colour, pointing } from './refs.js';
import { remark } from './highlights.js';
import { lit as pointed } from '../state/lit.js';
import { marks } from '../state/marks.js';
import { arrive, place } from '../state/place.js';
import { read } from '../state/reader.js';
import * as receipts from '../state/receipts.js';
import * as thread from '../state/thread.js';
import { resultsOf, shownElsewhere } from '../state/trace.js';
import * as turn from '../state/turn.js';
import { t } from '../state/words.js';

// Crease marks where a compacted stretch ends, or where it was compacted.
function Crease({ id, stretch: x, receipt: r }) {
  return html`<div class="crease" title=${t('compactedHint')}>${icon('compact')}<span><b>${t('compacted', range(x))}</b>${r && html` <span>${receipts.trade(r)}</span>`}</span>
    ${r ? html`<button type="button" class="link" onClick=${() => receipts.open(r)}>${t('receipt.one')}</button>`
    : html`<button type="button" class="link" onClick=${() => read(id, x.ref, range(x))}>${t('readOriginal')}</button>`}</div>`;
}

// Cut is where sending the draft would cut.
const Cut = ({ cut: x }) => html`<div class="crease cut" id="cut">${icon('compact')}<span>${t('thread.cut', range(x))}</span></div>`;

const drawn = new WeakMap(); // by message, how it was drawn last, so that only what changed is drawn again

function once(m, props, make) {
  const was = drawn.get(m);
  if (was && was.keys.length === props.length && was.keys.every((k, i) => k === props[i])) return was.node;
  const node = make();
  drawn.set(m, { keys: props, node });
  return node;
}

// outline is what there is to know about the held messages as a whole.
function outline(ms) {
  const answers = new Map(); // the last of each turn
  const thought = new Map(); // the first answer of each turn
  const asked = new Map(); // when its question was stored
  for (const m of ms) {
    if (m.role === 'user') asked.set(m.turn_id, m.created_at);
    if (m.role !== 'assistant') continue;
    answers.set(m.turn_id, m.seq);
    if (!thought.has(m.turn_id)) thought.set(m.turn_id, m.seq);
  }
  const results = resultsOf(ms);
  return { answers, thought, asked, results, told: shownElsewhere(ms, results) };
}

// happened are the receipts of compactions that were made between the held messages, by the seq
// after which they stand.
function happened(ms) {
  const out = new Map();
  for (const r of receipts.receipts.value) {
    if (r.result !== 'compacted' || r.undone || r.inherited || !ms.length || r.created_at < ms[0].created_at) continue;
    const next = ms.findIndex((m) => m.created_at > r.created_at);
    if (next > 0 && ms[next - 1].seq > r.last_seq) out.set(ms[next - 1].seq, r);
  }
  return out;
}

function Messages() {
  useLayoutEffect(() => { scroller.after(); });
  const c = thread.conversation.value;
  const ms = thread.messages.value;
  const stretches = compacted.value;
  const ends = new Map(stretches.map((x) => [x.last_seq, x]));
  const boundary = stretches.length ? stretches[stretches.length - 1].last_seq : 0;
  const lit = thread.target.value && thread.target.value.seq;
  const live = turn.running.value;
  const cut = manifest.value && manifest.value.conversation_id === c.id ? manifest.value.compacts : null;
  const { answers, thought, asked, results, told } = outline(ms);
  const events = happened(ms);
  const left = new Set(leftout.all.value);
  const newest = live ? null : ms[ms.length - 1]; // its actions have room; while an answer is written nothing may move
  const out = [];
  for (const m of ms) {
    const isCompacted = m.seq <= boundary && stretches.some((x) => m.seq >= x.first_seq && m.seq <= x.last_seq);
    const running = Boolean(live && live.turn === m.turn_id);
    const known = thread.meta.value[m.turn_id];
    const meta = answers.get(m.turn_id) === m.seq && !running ? known : null;
    const took = thought.get(m.turn_id) === m.seq ? tookOf(known) : '';
    const going = Boolean(cut) && m.seq >= cut.first_seq && m.seq <= cut.last_seq;
    const found = results.key(m);
    const fresh = running ? turn.references.value : undefined;
    const props = [meta, took, fresh, found, told.has(m.seq), left.has(m.seq), isCompacted, going, m.seq === lit, m.seq === pointed.value, m === newest, asked.get(m.turn_id)];
    out.push(once(m, props, () => html`<${Message} key=${m.id} message=${m} meta=${meta} took=${took} fresh=${fresh} results=${results.of(m)} told=${told.has(m.seq)} left=${left.has(m.seq)}
      compacted=${isCompacted} going=${going} lit=${m.seq === lit} pointed=${m.seq === pointed.value} last=${m === newest} began=${asked.get(m.turn_id)} />`));
    for (const e of thread.after(m.seq)) {
      if (live && e.turn_id === live.turn) continue; // it is being read as it is written
      out.push(html`<${Unanswered} key=${e.turn_id} entry=${e} meta=${answers.has(e.turn_id) ? null : thread.meta.value[e.turn_id]} after=${m} conversation=${c.id} busy=${live !== null} />`);
    }
    const end = ends.get(m.seq);
    const happening = events.get(m.seq);
    if (end) out.push(html`<${Crease} key=${'crease' + m.seq} id=${c.id} stretch=${end} receipt=${receipts.receiptOf(end)} />`);
    if (happening && !(end && receipts.receiptOf(end) === happening)) out.push(html`<${Crease} key=${'event' + m.seq} id=${c.id} stretch=${happening} receipt=${happening} />`);
    if (cut && m.seq === cut.last_seq) out.push(html`<${Cut} key="cut" cut=${cut} />`);
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
    ${turn.compactions.value.filter((x) => x.result === 'compacted').map((x) => html`<${Crease} key=${x.last_seq} id=${r && r.conversation} stretch=${x} receipt=${x} />`)}
    ${r && html`<${Writing} step=${step} searching=${turn.searching.value} searches=${turn.searches.value} conversation=${r.conversation} />`}
    ${turn.shaky.value && html`<p class="edge" role="status">${t('reconnecting')}</p>`}`;
}

// atEnd follows what comes from now on; the address no longer names a message.
function atEnd() {
  scroller.stuck = true;
  const c = thread.conversation.value;
  if (c && place.value.id === c.id && place.value.seq) arrive(c.id);
}

function toEnd() {
  atEnd();
  if (thread.newer.value) thread.toEnd();
  else scroller.el.scrollTo({ top: scroller.el.scrollHeight, behavior: 'smooth' });
}

export const follow = atEnd;

const still = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

// fade takes the light from the message that was gone to: when it has faded, or where nothing
// moves at the next key.
function fade(aim) {
  const end = () => { if (thread.target.value === aim) thread.target.value = null; };
  if (still()) addEventListener('keydown', end, { once: true, capture: true });
  else setTimeout(end, 2200);
}

export function Thread() {
  const el = useRef(null);
  const column = useRef(null);
  const messages = thread.messages.value;
  const aim = thread.target.value;
  const aimed = useRef(null);

  useLayoutEffect(() => {
    scroller.el = el.current;
    if (aim && aim !== aimed.current && messages.length) {
      aimed.current = aim;
      const hit = aim.seq && document.getElementById('m' + aim.seq);
      scroller.stuck = !aim.seq;
      if (hit) { hit.scrollIntoView({ block: hit.offsetHeight > el.current.clientHeight * 0.8 ? 'start' : 'center' }); thread.current.value = aim.seq; } else el.current.scrollTop = el.current.scrollHeight;
      if (aim.seq) fade(aim);
    } else scroller.after();
    scroller.scrolled();
  }, [messages, aim, compacted.value, manifest.value && manifest.value.compacts, thread.turns.value, receipts.receipts.value]);

  useEffect(() => {
    const watch = new ResizeObserver(() => scroller.resized());
    watch.observe(el.current);
    watch.observe(column.current);
    const look = new MutationObserver(() => { colour(el.current); remark(el.current); });
    look.observe(el.current, { childList: true, subtree: true, characterData: true });
    const off = keys(el.current);
    return () => { watch.disconnect(); look.disconnect(); off(); scroller.el = null; };
  }, []);
  useLayoutEffect(() => { colour(el.current); }, [messages, compacted.value, pointed.value]);
  useLayoutEffect(() => { remark(el.current); }, [messages, marks.value]);

  return html`<div class="scroll" id="thread" ref=${el} onScroll=${() => scroller.scrolled()} tabindex="-1" ...${pointing}>
      <div class="column" ref=${column} onClick=${(e) => { if (e.target.closest('summary, .trace')) scroller.touched = performance.now(); }}>
        ${messages.length > 0 && html`<${Messages} />`}<${Live} /></div>
    </div>
    <div class="above"><button type="button" class="tolatest" onClick=${toEnd}>${icon('down')} ${t('latest')}</button></div><${Goto} />`;
}
