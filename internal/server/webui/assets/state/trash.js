// The trash: what is in it, taking it out, and removing it for ever.
import { batch, signal } from '../vendor/signals-core.mjs';
import { api } from './api.js';
import { each, keep, titleOf } from './conversations.js';
import { attempt, say } from './notices.js';
import { t } from './words.js';

const PAGE = 100;

export const list = signal([]);
export const cursor = signal(null);
export const loaded = signal(false);
export const emptying = signal(0); // how many are gone, while it is emptied

const page = (fields) => api.listConversations({ trash: true, limit: PAGE, ...fields });

export async function refresh() {
  const got = await attempt(() => page({}));
  if (!got) return;
  batch(() => { list.value = got.conversations; cursor.value = got.next; loaded.value = true; });
}

export async function more() {
  const got = await attempt(() => page({ cursor: cursor.value }));
  if (!got) return;
  const known = new Set(list.value.map((c) => c.id));
  batch(() => { list.value = [...list.value, ...got.conversations.filter((c) => !known.has(c.id))]; cursor.value = got.next; });
}

const drop = (c) => { list.value = list.value.filter((x) => x.id !== c.id && !(x.agent_of && x.agent_of.id === c.id)); };

// restore takes one out, with its sub-agents.
export async function restore(c) {
  const fresh = await attempt(() => api.restoreConversation(c.id));
  if (!fresh) return;
  drop(c);
  keep(fresh);
  say(t('side.restored', titleOf(c)));
}

// gone is so for what went together with another already.
const purged = async (c) => { try { await api.deleteConversation(c.id, { purge: true }); } catch (err) { if (err.status !== 404) throw err; } drop(c); };

// purge removes one for ever.
export async function purge(c) {
  if ((await each([c], purged)).length) say(t('side.purged', titleOf(c)));
}

// empty removes everything that is in the trash, also what is not listed yet.
export async function empty() {
  emptying.value = 0;
  let n = 0;
  for (let rounds = 0; rounds < 1000; rounds++) {
    const got = await attempt(() => page({}));
    if (!got || !got.conversations.length) break;
    const done = await each(got.conversations, async (c) => { await purged(c); emptying.value += 1; });
    n += done.length;
    if (!done.length) break;
  }
  emptying.value = 0;
  if (n) say(t('side.emptied', n));
  await refresh();
}
