// The context of the open conversation: what the next request sends, what it leaves out, and
// the receipts of what was folded.
import { batch, computed, signal } from '@preact/signals';
import { convo, get, post } from './api.js';
import { conversation, eyes } from './thread.js';
import { attempt, complain, hush, say } from './ui.js';
import { num, t } from './words.js';

export const manifest = signal(null);
export const receipts = signal([]);
export const busy = signal(false);

// folded is what stands behind a ref, oldest first.
export const folded = computed(() => (manifest.value ? manifest.value.excluded.filter((x) => x.ref) : []));

let asked = 0;

export async function look(id) {
  const mine = ++asked;
  if (!id) { batch(() => { manifest.value = null; receipts.value = []; }); return; }
  if (manifest.value && manifest.value.conversation_id !== id) batch(() => { manifest.value = null; receipts.value = []; });
  try {
    const [m, r] = await Promise.all([get(convo(id, '/context')), get(convo(id, '/receipts') + '?limit=50')]);
    if (mine !== asked) return;
    eyes.before();
    batch(() => { manifest.value = m; receipts.value = r.receipts || []; });
  } catch (err) {
    if (mine === asked) complain(err);
  }
}

// receiptOf is the receipt of the fold that ended at seq, for its figures.
export const receiptOf = (x) => receipts.value.find((r) => r.result === 'compacted' && r.last_seq === x.last_seq && r.first_seq <= x.first_seq);

async function act(verb, body, done) {
  const id = conversation.value.id;
  busy.value = true;
  hush();
  const r = await attempt(() => post(convo(id, verb), body));
  busy.value = false;
  if (!r) return;
  say(done(r));
  if (conversation.value && conversation.value.id === id) await look(id);
}

export const told = (r) => (r.result === 'compacted'
  ? `${t('folded', num(r.first_seq), num(r.last_seq))} · ${t('foldTokens', num(r.tokens_before), num(r.tokens_after))}`
  : t('fold.' + r.result));

export const foldNow = () => act('/compact', { force: true }, told);
export const startAfresh = () => act('/clear', {}, (r) => (r.result === 'compacted' ? t('cleared') : told(r)));
export const undoFold = () => act('/uncompact', {}, () => t('unfolded'));
