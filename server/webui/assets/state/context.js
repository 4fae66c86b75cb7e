// The context of the open conversation: what the next request sends, and what it leaves out.
import { computed, signal } from '../vendor/signals-core.mjs';
import { convo, get } from './api.js';
import { num } from './figures.js';
import { complain } from './notices.js';
import { eyes } from './thread.js';
import { t } from './words.js';

export const manifest = signal(null);

// compacted is what stands behind a ref, oldest first.
export const compacted = computed(() => (manifest.value ? manifest.value.excluded.filter((x) => x.ref) : []));

let asked = 0;

export async function refresh(id) {
  const mine = ++asked;
  if (!id || (manifest.value && manifest.value.conversation_id !== id)) manifest.value = null;
  if (!id) return;
  try {
    const m = await get(convo(id, '/context'));
    if (mine !== asked) return;
    eyes.before();
    manifest.value = m;
  } catch (err) {
    if (mine === asked) complain(err);
  }
}

// range names a run of messages.
export const range = (x) => (x.first_seq === x.last_seq ? `#${num(x.first_seq)}` : `#${num(x.first_seq)}–#${num(x.last_seq)}`);

const reasons = {
  folded: 'reason.compacted', compacted: 'reason.compacted', 'not folded yet': 'reason.waits', 'not compacted yet': 'reason.waits',
  unfinished: 'reason.unfinished', invalid: 'reason.invalid', 'pinned, and no room': 'reason.noRoom',
};

// reason says why x is left out of the window; one that is new here is shown as it came.
export const reason = (x) => (Object.hasOwn(reasons, x.reason) ? t(reasons[x.reason]) : x.reason);
