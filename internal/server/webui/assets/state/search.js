// Search: messages by words across everything or here, lines of this conversation by a regular
// expression, conversations by title, commands by name.
import { batch, computed, effect, signal } from '../vendor/signals-core.mjs';
import { api } from './api.js';
import { list, titleOf } from './conversations.js';
import { attempt } from './notices.js';
import { labelOf, matching } from './palette.js';
import { searchOpen } from './panels.js';
import { conversation } from './thread.js';
import { zone } from './zone.js';
import { lang, t } from './words.js';

const PAGE = 20;
const AROUND = 2; // neighbours of a hit, on each side
const LINES = 100; // of a grep

export const text = signal('');
export const scope = signal('everywhere'); // everywhere, here or lines
export const match = signal(false); // of lines: upper and lower case differ
export const nothing = { project: '', role: '', from: 0, to: 0, when: '' }; // when says how the dates are called
export const only = signal(nothing);

// mode is what is looked for: a text that begins with > calls a command.
export const mode = computed(() => (text.value.startsWith('>') ? 'commands' : conversation.value ? scope.value : 'everywhere'));
export const wanted = computed(() => (mode.value === 'commands' ? text.value.slice(1) : text.value).trim());

export const rows = signal([]); // {kind: 'hit' | 'line' | 'conversation' | 'command', …}
export const count = signal(null); // how many there are; null before a search
export const next = signal(null); // the offset of the next page
export const fault = signal('');
export const at = signal(0); // which row is chosen
export const chosen = computed(() => rows.value[at.value] || null);

export const close = () => { searchOpen.value = false; };

const known = new Map(); // conversations by id, as far as their title and project

async function about(id) {
  const here = list.peek().find((c) => c.id === id);
  if (here) return here;
  if (!known.has(id)) known.set(id, api.getConversation(id).catch(() => { known.delete(id); return { title: id.slice(0, 8), project: '' }; }));
  return known.get(id);
}

async function withTitles(hits) {
  const of = await Promise.all(hits.map((h) => about(h.conversation_id)));
  return hits.map((h, i) => ({ kind: 'hit', h, title: titleOf(of[i]), project: of[i].project }));
}

// fields say what messages are asked for.
export function fields() {
  const { project, role, from, to } = only.peek();
  const here = mode.peek() === 'here' ? conversation.peek().id : null;
  return { q: wanted.peek(), conversation: here, project: here ? '' : project, role, from: from || null, to: to || null, tz: zone() };
}

const titled = async (q, limit, signal) => (await api.listConversations({ q, limit, signal })).conversations.map((c) => ({ kind: 'conversation', c }));

async function messages(signal) {
  const everything = mode.peek() === 'everywhere' && only.peek() === nothing;
  const [s, above] = await Promise.all([api.search({ ...fields(), limit: PAGE, around: AROUND, signal }),
    everything ? titled(wanted.peek(), 3, signal) : []]);
  return { rows: [...above, ...await withTitles(s.hits)], next: s.next ?? null,
    count: { kind: 'messages', total: s.total || 0, conversations: s.conversations || 0, truncated: Boolean(s.truncated), ...(s.indexed != null && { indexed: s.indexed }) } };
}

// looks are what each mode asks.
const looks = {
  everywhere: messages,
  here: messages,
  async lines(signal) {
    const g = await api.grep(conversation.peek().id, { pattern: text.peek(), max_results: LINES, case_sensitive: match.peek(), signal });
    return { rows: g.matches.map((m) => ({ kind: 'line', m })), next: null,
      count: { kind: 'lines', shown: g.matches.length, total: g.total, partial: Boolean(g.partial) } };
  },
  async commands(stop) {
    const q = wanted.peek();
    const found = matching(q).map((c) => ({ kind: 'command', c, label: labelOf(c) }));
    return { rows: [...found, ...(q ? await titled(q, 5, stop) : [])], next: null, count: { kind: 'commands', total: found.length } };
  },
};

const idle = () => ({ rows: list.peek().slice(0, 8).map((c) => ({ kind: 'conversation', c })), next: null, count: null });

let stop = null;
let waiting = 0;

function show(out, wrong = '') {
  batch(() => { rows.value = out.rows; count.value = out.count; next.value = out.next; fault.value = wrong; at.value = 0; });
}

// find looks for what is asked for, at once; what was asked before is given up.
export async function find() {
  if (stop) stop.abort();
  clearTimeout(waiting);
  const mine = new AbortController();
  stop = mine;
  if (!wanted.peek() && mode.peek() !== 'commands') { show(idle()); return; }
  try {
    const out = await looks[mode.peek()](mine.signal);
    if (!mine.signal.aborted) show(out);
  } catch (err) {
    if (!mine.signal.aborted) show({ rows: [], count: null, next: null }, err instanceof TypeError ? t('offlineNet') : err.message);
  }
}

// giveUp gives up what is being looked for: what comes of it is not shown.
export function giveUp() {
  clearTimeout(waiting);
  if (stop) stop.abort();
  stop = null;
}

let paging = null;

// more adds the next page.
export async function more() {
  const from = next.peek();
  const mine = stop;
  if (from === null || paging === mine) return;
  paging = mine;
  const s = await attempt(() => api.search({ ...fields(), limit: PAGE, around: AROUND, offset: from, signal: mine.signal }));
  const added = s ? await withTitles(s.hits) : [];
  if (paging === mine) paging = null;
  if (!s || mine !== stop) return;
  const had = new Set(rows.peek().filter((r) => r.kind === 'hit').map((r) => r.h.message_id));
  batch(() => { rows.value = [...rows.peek(), ...added.filter((r) => !had.has(r.h.message_id))]; next.value = s.next ?? null; });
}

// follow searches while the palette is open, a moment after what is looked for changed, and
// returns what ends that.
export function follow(pause = 160) {
  let first = true;
  const end = effect(() => {
    void [text.value, scope.value, match.value, only.value, lang.value, conversation.value && conversation.value.id];
    clearTimeout(waiting);
    waiting = setTimeout(find, first || mode.peek() === 'commands' ? 0 : pause);
    first = false;
  });
  return () => { end(); giveUp(); };
}

// step chooses another row; behind the last is the next page, or else the first.
export function step(by) {
  const n = rows.peek().length;
  if (!n) return;
  const to = at.peek() + by;
  if (to > n - 5) more();
  if (to < n || next.peek() === null) at.value = (to + n) % n;
}

// narrow changes which messages are searched.
export function narrow(change) {
  const to = { ...only.peek(), ...change };
  only.value = Object.values(to).some(Boolean) ? to : nothing;
}

// turn changes the mode; the words stay.
export function turn(to) {
  const words = text.peek().replace(/^>\s*/, '');
  batch(() => { text.value = to === 'commands' ? '>' + words : words; if (to !== 'commands') scope.value = to; });
}
