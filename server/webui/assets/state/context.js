// The context of the open conversation: what the next request sends, what it leaves out, and
// the receipts of its compactions.
import { batch, computed, signal } from '../vendor/signals-core.mjs';
import { convo, get, post, send } from './api.js';
import { num } from './figures.js';
import { failed, works } from './line.js';
import { attempt, complain, hush, say } from './notices.js';
import { conversation, eyes } from './thread.js';
import { t } from './words.js';

export const manifest = signal(null); // of the next request, with the message that is being written
export const receipts = signal([]);
export const busy = signal(false);

let shown = [];

// compacted is what stands behind a ref, oldest first; the same list for as long as it says
// the same.
export const compacted = computed(() => {
  const now = manifest.value ? manifest.value.excluded.filter((x) => x.ref) : [];
  if (JSON.stringify(now) !== JSON.stringify(shown)) shown = now;
  return shown;
});

let asked = 0;

const PAUSE = 150; // ms without a key before the figures follow
let drafted = null; // {id, body}: what is being written, as it would be sent
let pausing = 0;
let reading = null; // the AbortController of a request for the figures

// preview has the figures follow what is being written in a conversation; null for nothing.
export function preview(id, body) {
  const now = id && body ? { id, body } : null;
  if (JSON.stringify(now) === JSON.stringify(drafted)) return;
  drafted = now;
  clearTimeout(pausing);
  pausing = setTimeout(() => figures(), PAUSE);
}

// next is the manifest of the next request.
async function next(id, signal) {
  if (!drafted || drafted.id !== id) return get(convo(id, '/context'), signal);
  try {
    return await (await send('POST', convo(id, '/context'), { body: drafted.body, signal })).json();
  } catch (err) {
    if (!err.status) throw err;
    return get(convo(id, '/context'), signal); // this message cannot be sent, as sending it will say
  }
}

// figures reads the manifest again; a request before this one that is still on its way is dropped.
export async function figures(id = conversation.value && conversation.value.id) {
  if (reading) reading.abort();
  if (!id) return;
  const mine = (reading = new AbortController());
  try {
    const m = await next(id, mine.signal);
    if (mine !== reading) return;
    works();
    eyes.before();
    manifest.value = m;
  } catch (err) {
    if (mine !== reading) return;
    if (err instanceof TypeError) failed(err); // it is said at the message that is being written
    else complain(err);
  }
}

export async function refresh(id) {
  const mine = ++asked;
  if (!id) { if (reading) reading.abort(); reading = null; }
  if (!id) { batch(() => { manifest.value = null; receipts.value = []; }); return; }
  if (manifest.value && manifest.value.conversation_id !== id) batch(() => { manifest.value = null; receipts.value = []; });
  try {
    const [r] = await Promise.all([get(convo(id, '/receipts') + '?limit=50'), figures(id)]);
    if (mine === asked) receipts.value = r.receipts || [];
  } catch (err) {
    if (mine === asked) complain(err);
  }
}

// receiptOf is the receipt of the compaction that x was left out by, for its figures.
export const receiptOf = (x) => receipts.value.find((r) => r.result === 'compacted' && r.last_seq === x.last_seq && r.first_seq <= x.first_seq);

async function act(verb, body, done) {
  const id = conversation.value.id;
  busy.value = true;
  hush();
  const r = await attempt(() => post(convo(id, verb), body));
  busy.value = false;
  if (!r) return;
  say(done(r));
  if (conversation.value && conversation.value.id === id) await refresh(id);
}

// range names a run of messages.
export const range = (x) => (x.first_seq === x.last_seq ? `#${num(x.first_seq)}` : `#${num(x.first_seq)}–#${num(x.last_seq)}`);

export const saved = (r) => t('compactTokens', num(r.tokens_before), num(r.tokens_after));

// because puts the reason that the server gave behind what happened.
const because = (what, r) => (r.summary_why ? t('because', what, r.summary_why) : what);

// why says why a model gave no summary.
export const why = (r) => because(t('summary.' + r.summary_result), r);

// outcome says what came of a compaction.
export const outcome = (r) => (r.result === 'compacted'
  ? `${t('compacted', range(r))} · ${saved(r)}${r.summary_result ? ` · ${why(r)}` : ''}`
  : because(t('compaction.' + r.result), r));

export const compactNow = () => act('/compact', { force: true }, outcome);
export const startAfresh = () => act('/clear', {}, (r) => (r.result === 'compacted' ? t('cleared') : outcome(r)));
export const undoCompaction = () => act('/uncompact', {}, () => t('uncompacted'));

const reasons = {
  folded: 'reason.compacted', compacted: 'reason.compacted', 'not folded yet': 'reason.waits', 'not compacted yet': 'reason.waits',
  unfinished: 'reason.unfinished', invalid: 'reason.invalid', 'pinned, and no room': 'reason.noRoom',
};

// reason says why x is left out of the window; one that is new here is shown as it came.
export const reason = (x) => (Object.hasOwn(reasons, x.reason) ? t(reasons[x.reason]) : x.reason);
