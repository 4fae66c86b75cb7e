// The list of conversations: newest first, filtered by title, page by page; or the trash.
import { signal } from '../vendor/signals-core.mjs';
import * as agents from './agents.js';
import { convo, del, get, patch, post, query, upload } from './api.js';
import { attempt, say } from './notices.js';
import { t } from './words.js';

export const list = signal([]);
export const cursor = signal(null);
export const filter = signal('');
export const inTrash = signal(false);
export const loaded = signal(false);

let asked = 0;

// refresh reads the list again, as many pages' worth as were shown.
export async function refresh() {
  const mine = ++asked;
  const limit = Math.min(200, Math.max(50, list.value.length));
  const page = await attempt(() => get('/api/conversations' + query({ q: filter.value.trim(), trash: inTrash.value, limit })));
  if (!page || mine !== asked) return;
  list.value = page.conversations;
  cursor.value = page.next;
  loaded.value = true;
  agents.load(page.conversations.map((c) => c.id));
}

export async function more() {
  const mine = ++asked;
  const page = await attempt(() => get('/api/conversations' + query({ q: filter.value.trim(), trash: inTrash.value, cursor: cursor.value })));
  if (!page || mine !== asked) return;
  const known = new Set(list.value.map((c) => c.id));
  list.value = [...list.value, ...page.conversations.filter((c) => !known.has(c.id))];
  cursor.value = page.next;
  agents.load(page.conversations.map((c) => c.id));
}

let typing = 0;
export function setFilter(text) {
  filter.value = text;
  clearTimeout(typing);
  typing = setTimeout(refresh, 180);
}

export function showTrash(yes) {
  inTrash.value = yes;
  list.value = [];
  loaded.value = false;
  refresh();
}

// keep puts a conversation's new state where the list shows it.
export function keep(c) {
  agents.keep(c);
  list.value = list.value.map((x) => (x.id === c.id ? c : x));
}

// told puts a change into the list; it returns false where that has to be read again.
export function told(ev) {
  const c = list.value.find((x) => x.id === ev.conversation_id);
  if (ev.gone || ev.type === 'trash') {
    if (agents.told(ev) && !inTrash.value) return true;
    if (!c || (ev.type === 'trash' && !ev.gone && inTrash.value === Boolean(ev.deleted_at))) return ev.gone === true;
    list.value = list.value.filter((x) => x !== c);
    return true;
  }
  if (inTrash.value || agents.told(ev)) return true;
  if (!c || (filter.value && c.title !== ev.title)) return false;
  if (ev.version <= c.version && ev.updated_at <= c.updated_at) return true;
  const { title, version, branch, messages, updated_at, project } = ev;
  const fresh = { ...c, title, version, branch, messages, updated_at, project };
  list.value = [fresh, ...list.value.filter((x) => x !== c)].sort((a, b) => b.updated_at - a.updated_at);
  return true;
}

export const titleOf = (c) => (c && c.title) || t('untitled');

export async function rename(c, title) {
  const fresh = await attempt(() => patch(convo(c.id), { title }));
  if (fresh) keep(fresh);
  return fresh;
}

export async function restore(c) {
  const fresh = await attempt(() => post(convo(c.id, '/restore')));
  if (fresh) await refresh();
  return fresh;
}

export async function trash(c) {
  const gone = await attempt(() => del(convo(c.id)));
  if (!gone) return false;
  list.value = list.value.filter((x) => x.id !== c.id);
  say(t('trashed', titleOf(c)), t('undo'), () => restore(c));
  return true;
}

// bring imports a file and returns the id of the first conversation it held.
export async function bring(file) {
  say(t('importing'));
  const out = await attempt(() => upload('/api/import', file));
  if (!out) { say(''); return null; }
  const written = out.conversations.reduce((n, c) => n + c.messages, 0);
  say(t('imported', out.conversations.length, written, out.skipped.length + (out.more_skipped || 0)));
  if (inTrash.value) inTrash.value = false;
  await refresh();
  return out.conversations.length ? out.conversations[0].id : null;
}

const titles = new Map();

// titleFor finds the title of a conversation that the list may not hold.
export async function titleFor(id) {
  const here = list.value.find((c) => c.id === id);
  if (here) return titleOf(here);
  if (!titles.has(id)) titles.set(id, get(convo(id)).then(titleOf, () => id.slice(0, 8)));
  return titles.get(id);
}
