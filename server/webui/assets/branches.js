// The ways a conversation went: other versions of a message, going over to one, asking anew,
// editing what was asked, and going on elsewhere. Going back takes nothing away.
import { signal } from '@preact/signals';
import { convo, get, post } from './api.js';
import { settle } from './place.js';
import * as thread from './thread.js';
import * as turn from './turn.js';
import { attempt, hush } from './ui.js';

const branches = signal([]); // of the open conversation, oldest first
export const editing = signal(null); // the message that is written anew

let asked = 0;

export async function look(id) {
  const mine = ++asked;
  const got = id ? await attempt(() => get(convo(id, '/branches'))) : null;
  if (mine === asked) branches.value = got ? got.branches : [];
}

// versions are the branches that hold another message at the place of m, or m itself, oldest
// first, and which of them m is of.
export function versions(m) {
  const all = branches.value;
  const own = all.find((b) => b.id === m.branch);
  if (all.length < 2 || !own) return null;
  const begins = own.at_seq === m.seq - 1;
  const from = begins ? own.parent : own.id;
  const here = all.filter((b) => (b.id === from && b.head_seq >= m.seq) || ((b.parent || undefined) === from && b.at_seq === m.seq - 1 && b.messages > 0));
  return here.length > 1 ? { list: here, at: here.indexOf(own) } : null;
}

// go moves the head, and shows where it stands then.
async function go(place) {
  const id = thread.conversation.value.id;
  hush();
  const c = await attempt(() => post(convo(id, '/rewind'), place));
  if (!c) return false;
  await thread.renew(c);
  await look(id);
  return true;
}

export const over = (branch) => go({ branch: branch.id });

// again has the question before m answered anew.
export async function again(m) {
  const question = thread.messages.value.filter((q) => q.role === 'user' && q.seq < m.seq).pop();
  if (!question || turn.running.value || !(await go({ seq: question.seq }))) return;
  const id = thread.conversation.value.id;
  await turn.ask(id, undefined);
}

// back makes the message before the one that is edited the newest.
export const back = (m) => go({ seq: m.seq - 1 });

// fork goes on from m in a new conversation.
export async function fork(m) {
  const c = await attempt(() => post(convo(thread.conversation.value.id, '/fork'), { seq: m.seq }));
  if (c) { thread.adopt(c); await thread.renew(c); settle(c.id); look(c.id); }
}
