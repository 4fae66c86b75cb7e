// What the model sees: the next request with the draft, or what a past turn sent, step by step.
import { batch, computed, effect, signal, untracked } from '../vendor/signals-core.mjs';
import { api } from './api.js';
import * as attach from './attach.js';
import * as draft from './draft.js';
import { holds, kindOf, layers } from './layers.js';
import { list } from './leftout.js';
import * as sees from './sees.js';
import * as thread from './thread.js';
import * as turn from './turn.js';
import { wanted } from './web.js';
import { zone } from './zone.js';

export const request = signal(null); // {conversation, turn, steps, manifest}: what is shown
export const trouble = signal(''); // why it cannot be shown
export const loading = signal(false);
export const step = signal(0); // which step of a past turn; 0 for its last
export const aim = signal(null); // {seq, top}: a message to bring to a place

export const items = computed(() => (request.value && request.value.manifest.items) || []);
export const blocks = computed(() => layers(items.value));

const PAUSE = 150; // ms of not typing after which the draft is counted

// message is the draft as it would be sent; null for none.
function message(id) {
  const parts = attach.ready(id);
  const text = draft.text.value;
  if (!text.trim() && !parts.length) return null;
  return parts.length ? [...(text.trim() ? [{ type: 'text', text }] : []), ...parts] : text;
}

// next is the account of the next request, with its items.
export function next(id) {
  const m = draft.editing.value ? null : message(id);
  const without = list(id);
  return m === null && !without ? api.context(id, { content: true })
    : api.preview(id, { message: m === null ? undefined : m, web_search: wanted() || undefined, tz: zone(), without, content: true });
}

// past is what a turn sent: the account of each step, and the items of one of them.
async function past(id, of, n) {
  const got = await api.turnContext(id, of, { content: true, step: n || undefined });
  const before = request.value && request.value.turn === of ? request.value.steps : [];
  const fresh = got.steps || [];
  const steps = n && before.length ? before.map((s) => fresh.find((f) => f.step === s.step) || s) : fresh;
  const manifest = n ? fresh.find((s) => s.step === n) || fresh[0] : fresh[fresh.length - 1];
  return manifest && { conversation: id, turn: of, steps, manifest: { model: got.model, ...manifest, sent_at: manifest.sent_at || got.started_at } };
}

let asked = 0;
let timer = 0;

export async function load() {
  const id = thread.conversation.value && thread.conversation.value.id;
  const of = sees.turn.value;
  const mine = ++asked;
  if (!id) return;
  loading.value = true;
  try {
    const got = of ? await past(id, of, step.value) : { conversation: id, turn: null, steps: [], manifest: await next(id) };
    if (mine !== asked) return;
    batch(() => { request.value = got; trouble.value = ''; loading.value = false; });
  } catch (err) {
    if (mine !== asked) return;
    const stale = request.value && (request.value.conversation !== id || request.value.turn !== of);
    batch(() => { if (stale) request.value = null; trouble.value = err instanceof TypeError ? ' ' : err.message || String(err); loading.value = false; });
  }
}

// follow keeps the request fresh until the function that it returns is called: at once when the
// conversation changes, and after a pause while the draft is typed.
export function follow() {
  let was = null;
  const end = effect(() => {
    const c = thread.conversation.value;
    const now = [c, c && c.id, sees.turn.value, step.value, turn.ended.value, thread.newest(), draft.editing.value];
    if (!sees.turn.value) now.typed = [draft.text.value, c && attach.attached(c.id), wanted()];
    const typing = was && now.every((x, i) => x === was[i]);
    was = now;
    clearTimeout(timer);
    timer = setTimeout(() => untracked(load), typing ? PAUSE : 0);
  });
  return () => { end(); clearTimeout(timer); ++asked; };
}

// choose shows another step, or the request of another turn; null for the next one.
export const chooseStep = (n) => { step.value = n; };
export function chooseTurn(of, seq = 0) {
  batch(() => { step.value = 0; sees.look('model', { turn: of, seq }); });
}

// past turns of what is held, the newest first: what was asked, and what of it was answered.
export const turns = computed(() => {
  const out = new Map();
  for (const m of thread.messages.value) {
    if (!m.turn_id) continue;
    if (m.role === 'user') out.set(m.turn_id, { id: m.turn_id, seq: m.seq, at: m.created_at, parts: m.parts, answered: false });
    else if (out.has(m.turn_id)) out.get(m.turn_id).answered = true;
  }
  return [...out.values()].filter((x) => x.answered).reverse();
});

// where is the item of the request that is message seq, or stands for it; null for none.
export const where = (seq) => items.value.find((x) => kindOf(x) === 'messages' && holds(x, seq))
  || items.value.find((x) => kindOf(x) === 'compacted' && holds(x, seq)) || null;

// asJSON is the request as it is shown, to be kept or compared.
export function asJSON() {
  const { conversation, turn: of, manifest: m } = request.value;
  const about = { conversation_id: conversation, turn_id: of || undefined, step: m.step, model: m.model, limit: m.limit, budget: m.budget,
    tokens: m.tokens, bytes: m.bytes };
  return JSON.stringify({ ...about, items: m.items }, null, 2);
}
