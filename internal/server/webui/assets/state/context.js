// The context of the open conversation: what the next request sends, and what it leaves out.
import { computed, signal } from '../vendor/signals-core.mjs';
import { api } from './api.js';
import { num } from './figures.js';
import * as leftout from './leftout.js';
import { failed, works } from './line.js';
import { complain } from './notices.js';
import { conversation, eyes } from './thread.js';
import { t } from './words.js';
import { zone } from './zone.js';

export const manifest = signal(null); // of the next request, with the message that is being written

let shown = [];

// compacted is what was compacted and stands behind a ref, oldest first; the same list for as long as it says
// the same.
export const compacted = computed(() => {
  const now = manifest.value ? manifest.value.excluded.filter((x) => x.ref && x.reason !== 'left_out') : [];
  if (JSON.stringify(now) !== JSON.stringify(shown)) shown = now;
  return shown;
});

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

// bodyOf is what the next request would be, as far as that is not what the server knows.
function bodyOf(id) {
  const draft = drafted && drafted.id === id ? drafted.body : null;
  const without = leftout.list(id);
  return draft || without ? { ...draft, without, tz: zone() } : null;
}

// next is the manifest of the next request.
async function next(id, signal) {
  const body = bodyOf(id);
  if (!body) return api.context(id, { signal });
  try {
    return await api.preview(id, body, { signal });
  } catch (err) {
    if (!err.status) throw err;
    return api.context(id, { signal }); // this message cannot be sent, as sending it will say
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
  if (!id && reading) { reading.abort(); reading = null; }
  if (!id || (manifest.value && manifest.value.conversation_id !== id)) manifest.value = null;
  if (id) await figures(id);
}

// range names a run of messages.
export const range = (x) => (x.first_seq === x.last_seq ? `#${num(x.first_seq)}` : `#${num(x.first_seq)}–#${num(x.last_seq)}`);

const reasons = {
  folded: 'reason.compacted', compacted: 'reason.compacted', not_compacted: 'reason.waits',
  left_out: 'reason.leftOut', unfinished: 'reason.unfinished', invalid: 'reason.invalid', 'pinned, and no room': 'reason.noRoom',
};

// reason says why x is left out of the window; one that is new here is shown as it came.
export const reason = (x) => (Object.hasOwn(reasons, x.reason) ? t(reasons[x.reason]) : x.reason);

// The figures follow what is left out too.
let first = true;
leftout.follow(() => {
  if (!first) setTimeout(() => { if (conversation.peek()) figures(); });
  first = false;
});
