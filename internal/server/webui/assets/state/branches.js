// The branches of the open conversation: other versions of a message, switching to one, asking
// again, and continuing elsewhere. Going back takes nothing away.
import { signal } from '../vendor/signals-core.mjs';
import { api } from './api.js';
import { titleOf } from './conversations.js';
import { num } from './figures.js';
import * as leftout from './leftout.js';
import { source } from './message.js';
import { arrive, go } from './place.js';
import { reading } from './reader.js';
import * as thread from './thread.js';
import * as turn from './turn.js';
import { attempt, hush } from './notices.js';
import { t } from './words.js';

export const branches = signal([]); // of the open conversation, oldest first

let asked = 0;

export async function refresh(id) {
  const mine = ++asked;
  const got = id ? await attempt(() => api.branches(id)) : null;
  if (mine === asked) branches.value = got ? got.branches : [];
}

// versions are the branches that hold another message at the place of m, or m itself, oldest
// first, and which of them m is of.
export function versions(m) {
  const all = branches.value;
  const own = all.find((b) => thread.holds(b, m.branch));
  if (all.length < 2 || !own) return null;
  const begins = own.at_seq === m.seq - 1;
  const from = begins ? own.parent : own.id;
  const here = all.filter((b) => (b.id === from && b.head_seq >= m.seq) || ((b.parent || undefined) === from && b.at_seq === m.seq - 1 && b.messages > 0));
  return here.length > 1 ? { list: here, at: here.indexOf(own) } : null;
}

// rewind moves the head, and shows the conversation as it is then.
async function rewind(place) {
  const id = thread.conversation.value.id;
  hush();
  const c = await attempt(() => api.rewind(id, place));
  if (!c) return false;
  leftout.moved(id, place.seq);
  await thread.renew(c);
  await refresh(id);
  return true;
}

export const switchTo = (branch) => rewind({ branch: branch.id });

// showVersion makes a version the current one, at its message seq.
export async function showVersion({ branch, seq }) {
  const id = thread.conversation.value.id;
  if (await rewind({ branch })) go(id, seq);
}

// readVersion shows a message of a version that is not the current one in the reader.
export async function readVersion({ branch, seq }) {
  const id = thread.conversation.value.id;
  const got = await attempt(() => api.listMessages(id, { branch, after: seq - 1, limit: 1 }));
  if (got && got.messages.length) reading.value = { title: `#${num(seq)}`, text: source(got.messages[0]), bare: true };
}

// regenerate has the question before m answered again.
export async function regenerate(m) {
  const question = thread.messages.value.filter((q) => q.role === 'user' && q.seq < m.seq).pop();
  if (!question || turn.running.value || !(await rewind({ seq: question.seq }))) return;
  const id = thread.conversation.value.id;
  await turn.ask(id, undefined);
}

// retry has the newest question answered again, after a turn that did not answer it.
export async function retry() {
  if (turn.running.value) return;
  hush();
  await turn.ask(thread.conversation.value.id, undefined);
}

// withoutIt goes on without a message that was refused: the question is answered again, or where
// the message is that question, the next one is sent without it.
export async function withoutIt(seq) {
  const id = thread.conversation.value.id;
  if (turn.running.value) return true;
  hush();
  leftout.leaveOut(id, seq);
  if (!leftout.asks.value) return false;
  await turn.ask(id, undefined);
  return true;
}

// before makes the message before m the newest.
export const before = (m) => rewind({ seq: m.seq - 1 });

// fork continues from m in a new conversation.
export async function fork(m) {
  const from = thread.conversation.value;
  const c = await attempt(() => api.fork(from.id, { seq: m.seq, title: t('copyOf', Array.from(titleOf(from).replace(/^copy of |的副本$/g, '')).slice(0, 480).join('')) }));
  if (!c) return;
  thread.adopt(c);
  arrive(c.id);
  await thread.renew(c);
  refresh(c.id);
}
