// The sample: a long conversation to look around in before one has said anything.
import { computed, signal } from '../vendor/signals-core.mjs';
import { api } from './api.js';
import { list, refresh } from './conversations.js';
import { attempt, say } from './notices.js';
import { go } from './place.js';
import { conversation } from './thread.js';
import { lang, t } from './words.js';

export const making = signal(false);

const sampled = (c) => Boolean(c && c.meta && c.meta.sample);
export const open = computed(() => sampled(conversation.value));

// word is one worth looking for, in the language of the sample.
export const word = computed(() => (open.value && conversation.value.meta.lang === 'zh' ? '基准' : 'datum'));

// make makes the sample in the page's language and goes there.
export async function make() {
  if (making.value) return;
  making.value = true;
  const c = await attempt(() => api.sample({ lang: lang.value }));
  making.value = false;
  if (!c) return;
  go(c.id);
  await refresh();
}

// remove purges it: nothing of it is anybody's.
export async function remove() {
  const c = conversation.value;
  if (!sampled(c) || !(await attempt(() => api.deleteConversation(c.id, { purge: true })))) return;
  list.value = list.value.filter((x) => x.id !== c.id);
  go(null);
  say(t('first.removed'));
}
