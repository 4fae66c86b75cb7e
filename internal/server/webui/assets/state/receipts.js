// The receipts of the open conversation's compactions: what each replaced and by what, who wrote
// it and why, what came to nothing; undoing one and doing it again, tried before it is done.
import { batch, signal } from '../vendor/signals-core.mjs';
import { api } from './api.js';
import * as context from './context.js';
import { num } from './figures.js';
import { attempt, complain, hush, say } from './notices.js';
import { panel } from './panels.js';
import { conversation } from './thread.js';
import { t } from './words.js';

export const receipts = signal([]); // newest first
export const busy = signal(false);
export const trial = signal(null); // what undoing or redoing a receipt comes to, before it is done
export const aim = signal(null); // the receipt that the panel is to bring into view

export const idOf = (r) => `${r.created_at}:${r.first_seq}:${r.last_seq}:${r.result}`;

let asked = 0;
let of = null; // the conversation that the receipts are of

export async function refresh(id) {
  const mine = ++asked;
  if (id !== of) batch(() => { receipts.value = []; trial.value = null; of = id; });
  if (!id) return;
  try {
    const got = await api.receipts(id, { limit: 50 });
    if (mine === asked) receipts.value = got.receipts || [];
  } catch (err) {
    if (mine === asked) complain(err);
  }
}

// receiptOf is the receipt of the compaction that a stretch was left out by, for its figures.
export const receiptOf = (x) => receipts.value.find((r) => r.result === 'compacted' && !r.undone && r.last_seq === x.last_seq && r.first_seq <= x.first_seq);

// open brings the panel to a receipt.
export function open(r) {
  aim.value = r ? { id: idOf(r) } : null;
  panel.value = 'receipts';
}

// counted is how many messages a receipt stands for.
export const counted = (r) => r.messages || Math.max(0, r.last_seq - r.first_seq + 1);

// trade is what was given for what: "196 messages, 19,204 → 402 tokens". Receipts from before
// the two were weighed have the request's figures.
export const trade = (r) => (r.folded_tokens ? t('receipt.trade', counted(r), num(counted(r)), num(r.folded_tokens), num(r.card_tokens || 0)) : saved(r));

export const saved = (r) => t('compactTokens', num(r.tokens_before), num(r.tokens_after));

// because puts the reason that the server gave behind what happened.
const because = (what, r) => (r.summary_why ? t('because', what, r.summary_why) : what);

// why says why there is no summary of a model; empty if there is, or if nobody would expect one.
export const why = (r) => (r.summary_result ? because(t('summary.' + r.summary_result), r) : r.summary_why || '');

// outcome says what came of a compaction.
export const outcome = (r) => (r.result === 'compacted'
  ? `${t('compacted', context.range(r))} · ${saved(r)}${why(r) ? ` · ${t('summary.instead', why(r))}` : ''}`
  : because(t('compaction.' + r.result), r));

// title names a receipt in a few words.
export const title = (r) => (r.result !== 'compacted' ? t('receipt.not') : r.cleared ? t('receipt.afresh', num(r.last_seq)) : t('compacted', context.range(r)));

const reasons = ['window', 'by_hand', 'ahead', 'import', 'cleared', 'images', 'bytes', 'messages', 'client'];

// by says who wrote a summary; empty for an extract.
export const by = (x) => (!x || x.summary_by === 'extractive' ? '' : x.summary_by === 'client' ? t('receipt.client') : x.summary_by || '');

// reason says why a compaction was made; one that is new here is shown as it came.
export const reason = (r) => (reasons.includes(r.reason) ? t('receipt.why.' + r.reason) : r.reason || '');

// refused says why a try at a summary was not taken.
export const refused = (x) => t('receipt.refused', x.why || t('summary.' + x.result));

async function act(verb, done, body) {
  const id = conversation.value.id;
  busy.value = true;
  hush();
  const r = await attempt(() => api[verb](id, body));
  busy.value = false;
  if (!r) return false;
  if (undoable(r)) say(done(r), t('undo'), () => act('uncompact', () => t('receipt.undone', context.range(r)), { segment: r.segments[0] }));
  else say(done(r));
  if (conversation.value && conversation.value.id === id) await Promise.all([context.refresh(id), refresh(id)]);
  return true;
}

export const compactNow = () => act('compact', outcome, { force: true });
export const startAfresh = () => act('clear', (r) => (r.result === 'compacted' ? t('cleared') : outcome(r)));

// undoable and redoable say what can be done about a receipt.
export const undoable = (r) => r.result === 'compacted' && !r.undone && Boolean(r.segments) && r.segments.length > 0;
export const redoable = (r) => Boolean(r.undone && r.redo);

const verbs = { undo: 'uncompact', redo: 'recompact' };

// along are the receipts that undoing or redoing r takes along: those that were made on top of
// it, or those that it was made on top of.
export function along(r, verb) {
  const at = receipts.value.findIndex((x) => idOf(x) === idOf(r));
  if (verb === 'undo') return receipts.value.slice(0, at).filter(undoable);
  return receipts.value.slice(at + 1).filter((x) => redoable(x) && x.first_seq <= r.first_seq);
}

// attemptOf asks what undoing or redoing r would come to; nothing is changed by it.
export async function attemptOf(r, verb) {
  const id = conversation.value.id;
  const mine = { id: idOf(r), verb, along: along(r, verb).length };
  trial.value = mine;
  hush();
  const got = await attempt(() => api[verbs[verb]](id, { segment: r.segments[0], dry_run: true }));
  if (trial.value !== mine) return;
  trial.value = got ? { ...mine, before: got.tokens_before, after: got.tokens_after } : null;
}

export const keep = () => { trial.value = null; };

// go does what was tried.
export async function go(r, verb) {
  await act(verbs[verb], () => t(verb === 'undo' ? 'receipt.undone' : 'receipt.redone', context.range(r)), { segment: r.segments[0] });
  trial.value = null;
}

// comes says what a trial comes to in words: the next request, and what sending would do then.
export function comes(x, m) {
  const over = m && m.budget ? x.after - m.budget : 0;
  const again = over > 0 || (m && m.compacts_at > 0 && x.after >= m.compacts_at);
  return [t('receipt.next', num(x.before), num(x.after)), over > 0 ? t('receipt.over', num(over)) : again ? t('receipt.again') : '',
    x.along ? t(x.verb === 'undo' ? 'receipt.undoesToo' : 'receipt.redoesToo', x.along) : ''].filter(Boolean).join(t('receipt.space'));
}
