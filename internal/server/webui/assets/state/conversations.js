// The list of conversations: newest first, those of one project or all, filtered by title, page
// by page; and those that are pinned, wherever they stand in it.
import { batch, computed, signal } from '../vendor/signals-core.mjs';
import * as agents from './agents.js';
import { api, query } from './api.js';
import { attempt, complain, say } from './notices.js';
import { list as offered } from './offered.js';
import * as selection from './selection.js';
import { t } from './words.js';

const PAGE = 100;
const MOST = 200; // on one page
const AT_ONCE = 4; // requests, when many are changed

export const list = signal([]);
export const pinned = signal([]); // also those that the list does not hold yet
export const cursor = signal(null);
export const filter = signal('');
export const project = signal(null); // the one whose conversations are listed; null for all
export const loaded = signal(false);
export const running = signal(new Set()); // conversations in which a turn was seen to begin

export const titleOf = (c) => (c && c.title) || t('untitled');
// toolOf is the tool that a conversation was imported from, or the client that holds it here: its meta has what the tool keeps
// under the tool's name, with _ for -.
export const toolOf = (c) => offered('tools').find((name) => c.meta && c.meta[name.replaceAll('-', '_')]) || (clientOf(c).name || '');
const clientOf = (c) => (c.meta && c.meta.client) || {};
// placeOf is where that client works: its folder and its git branch.
export const placeOf = (c) => [clientOf(c).cwd, clientOf(c).git_branch].filter(Boolean).join(' · ');
export const isPinned = (id) => pinned.value.some((c) => c.id === id);

const newest = (a, b) => b.updated_at - a.updated_at || (b.id > a.id ? 1 : -1);
const asking = () => ({ q: filter.value.trim(), project: project.value });
const fits = (c) => !c.agent_of && !c.deleted_at && !filter.value.trim() && (!project.value || c.project === project.value);

let asked = 0;
let shown = ''; // what the list was asked for

// refresh reads the newest of the list again; what is below them stays.
export async function refresh() {
  const mine = ++asked;
  const what = query(asking());
  const page = await attempt(() => Promise.all([api.listConversations({ ...asking(), limit: list.value.length > PAGE ? MOST : PAGE }),
    api.listConversations({ ...asking(), pinned: true, limit: MOST })]));
  if (!page || mine !== asked) return;
  const [top, pins] = page;
  const last = top.conversations[top.conversations.length - 1];
  const known = new Set(top.conversations.map((c) => c.id));
  const below = what === shown && top.next ? list.value.filter((c) => !known.has(c.id) && newest(last, c) < 0) : [];
  shown = what;
  batch(() => {
    list.value = [...top.conversations, ...below];
    pinned.value = pins.conversations;
    if (!below.length) cursor.value = top.next;
    loaded.value = true;
  });
  agents.load([...known]);
}

let paging = null;

// more reads the next page, unless that is under way.
export function more() {
  if (!cursor.value) return Promise.resolve();
  paging ??= next().finally(() => { paging = null; });
  return paging;
}

async function next() {
  const mine = asked;
  const page = await attempt(() => api.listConversations({ ...asking(), cursor: cursor.value, limit: MOST }));
  if (!page || mine !== asked) return;
  const known = new Set(list.value.map((c) => c.id));
  batch(() => {
    list.value = [...list.value, ...page.conversations.filter((c) => !known.has(c.id))];
    cursor.value = page.next;
  });
  agents.load(page.conversations.map((c) => c.id));
}

let typing = 0;
export function setFilter(text) {
  filter.value = text;
  clearTimeout(typing);
  typing = setTimeout(refresh, 150);
}

export function setProject(name) {
  project.value = name;
  return refresh();
}

// put places one where its time says, or where it is already.
function put(l, c) {
  const others = l.filter((x) => x.id !== c.id);
  const i = others.findIndex((x) => newest(c, x) < 0);
  return i < 0 ? [...others, c] : [...others.slice(0, i), c, ...others.slice(i)];
}

// keep puts a conversation's new state where the list shows it; a new one comes into it.
export function keep(c) {
  agents.keep(c);
  if (c.agent_of) return;
  const there = list.value.some((x) => x.id === c.id);
  const last = list.value[list.value.length - 1];
  const joins = fits(c) && loaded.value && (!cursor.value || !last || newest(c, last) < 0);
  if (there && project.value && c.project !== project.value) list.value = list.value.filter((x) => x.id !== c.id);
  else if (there) list.value = c.updated_at ? put(list.value, c) : list.value.map((x) => (x.id === c.id ? c : x));
  else if (joins) list.value = put(list.value, c);
  const pins = pinned.value.filter((x) => x.id !== c.id);
  if (c.settings && c.settings.pinned && (fits(c) || pins.length < pinned.value.length)) pinned.value = put(pins, c);
  else if (pins.length < pinned.value.length) pinned.value = pins;
}

function remove(id) {
  if (list.value.some((x) => x.id === id)) list.value = list.value.filter((x) => x.id !== id);
  if (isPinned(id)) pinned.value = pinned.value.filter((x) => x.id !== id);
  selection.drop(id);
}

let looking = 0;
const wanted = new Set(); // conversations that are asked for again

// again reads conversations whose settings may have changed, a moment later and together.
function again(id) {
  wanted.add(id);
  clearTimeout(looking);
  looking = setTimeout(async () => {
    const ids = [...wanted];
    wanted.clear();
    if (ids.length > 20) { refresh(); return; }
    for (const x of ids) { try { keep(await api.getConversation(x)); } catch { /* it is gone, and the feed says so */ } }
  }, 100);
}

function turned(ev) {
  const is = ev.state === 'open';
  if (running.value.has(ev.conversation_id) === is) return;
  const to = new Set(running.value);
  if (is) to.add(ev.conversation_id);
  else to.delete(ev.conversation_id);
  running.value = to;
}

// stopped says that nothing runs in a conversation any more, whatever the feed missed.
export const stopped = (id) => turned({ conversation_id: id, state: 'over' });

// told puts a change into the list; it returns false where that has to be read again.
export function told(ev) {
  const c = [...list.value, ...pinned.value].find((x) => x.id === ev.conversation_id);
  if (ev.gone || (ev.type === 'trash' && ev.deleted_at)) {
    if (!agents.told(ev)) remove(ev.conversation_id);
    return true;
  }
  if (agents.told(ev)) return true;
  if (ev.type === 'turn') turned(ev);
  if (!c) return Boolean(filter.value.trim()) || Boolean(project.value && ev.project !== project.value);
  if (filter.value.trim() && c.title !== ev.title) return false;
  if (ev.version <= c.version && ev.updated_at <= c.updated_at) return true;
  const { title, version, branch, messages, updated_at } = ev;
  keep({ ...c, title, version, branch, messages, updated_at, project: ev.project });
  if (ev.type === 'conversation' && version > c.version) again(c.id);
  return true;
}

// change sends some fields of a conversation, and shows what came of it.
async function change(c, fields) {
  const fresh = await attempt(() => api.patchConversation(c.id, fields));
  if (fresh) keep(fresh);
  return fresh;
}

export const rename = (c, title) => change(c, { title });
export const pin = (c, yes) => change(c, { settings: { pinned: yes } });

export async function restore(c) {
  const fresh = await attempt(() => api.restoreConversation(c.id));
  if (fresh) keep(fresh);
  return fresh;
}

// each does something with each of some conversations, a few at a time, and returns those with
// which it went well; what went wrong first is shown.
export async function each(some, act) {
  const left = [...some];
  const done = [];
  let fault = null;
  const work = async () => {
    for (let c = left.shift(); c; c = left.shift()) {
      try { await act(c); done.push(c); } catch (err) { fault ??= err; }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  if (fault) complain(fault);
  return done;
}

// trash puts conversations in the trash, from where they can be taken at once.
export async function trash(some) {
  const gone = await each(some, async (c) => { await api.deleteConversation(c.id); remove(c.id); });
  if (!gone.length) return gone;
  say(gone.length === 1 ? t('trashed', titleOf(gone[0])) : t('side.trashed', gone.length), t('undo'), () => each(gone, async (c) => keep(await api.restoreConversation(c.id))));
  return gone;
}

// move takes conversations into a project.
export async function move(some, name) {
  const moved = await each(some, async (c) => keep(await api.patchConversation(c.id, { project: name })));
  if (moved.length) say(moved.length === 1 ? t('side.moved', titleOf(moved[0]), name) : t('side.movedMany', moved.length, name));
  return moved;
}

// discard removes for good a conversation in which nothing was ever said.
export async function discard(id) {
  if (await attempt(() => api.deleteConversation(id, { purge: true })) !== undefined) remove(id);
}

// fork copies a conversation, as it is now, into a new one.
export async function fork(c) {
  const fresh = await attempt(() => api.fork(c.id, { title: t('copyOf', Array.from(titleOf(c).replace(/^copy of |的副本$/g, '')).slice(0, 480).join('')) }));
  if (fresh) keep(fresh);
  return fresh;
}

// brief reads what another agent is told first that goes on with one; empty if it cannot be read.
export async function brief(id) {
  const got = await attempt(() => api.brief(id));
  return got ? got.brief : '';
}

// goOn are agents that go on with a conversation.
export const goOn = ['claude-code', 'codex', 'gemini-cli', 'opencode', 'kilo', 'qwen-code', 'copilot-cli', 'pi', 'cline', 'crush', 'cursor'];

// archive writes a full copy into the server's object store.
export async function archive(c) {
  if (await attempt(() => api.archive(c.id))) say(t('side.copied', titleOf(c)));
}

// found are the conversations with some ids, of those that are listed.
export const found = (ids) => { const by = new Map([...list.value, ...pinned.value].map((c) => [c.id, c])); return [...ids].map((id) => by.get(id)).filter(Boolean); };

export const empty = computed(() => loaded.value && !list.value.length && !pinned.value.length);

const titles = new Map();

// titleFor finds the title of a conversation that the list may not hold.
export async function titleFor(id) {
  const here = found([id])[0];
  if (here) return titleOf(here);
  if (!titles.has(id)) titles.set(id, api.getConversation(id).then(titleOf, () => id.slice(0, 8)));
  return titles.get(id);
}
