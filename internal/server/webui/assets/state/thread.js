// The open conversation and the stretch of its messages that is held: contiguous by seq,
// at most HELD of them, wherever in the conversation it lies.
import { batch, computed, signal } from '../vendor/signals-core.mjs';
import { api } from './api.js';
import { keep } from './conversations.js';
import { attempt } from './notices.js';

const PAGE = 50;
const HELD = 400;

export const conversation = signal(null);
export const messages = signal([]);
export const turns = signal([]); // those between the messages that have no stored answer
export const without = signal([]); // the seqs of messages that requests of the current path leave out
export const meta = signal({}); // by turn, what is known beside its messages
export const opening = signal(false);
export const missing = signal(null); // the id of a conversation that is not there, or not for this reader
export const target = signal(null); // {seq} to bring into view
export const astray = signal(null); // {seq, branch, head}: a message that was gone to and is not on the current path; branch is a version that has it, if any
export const current = signal(0); // the seq of the message that keys act on

export const head = signal(0); // the newest seq there is
export const older = computed(() => messages.value.length > 0 && messages.value[0].seq > 1);
export const newer = computed(() => messages.value.length > 0 && last().seq < head.value);

// eyes is told before messages are put in or taken out, so that what is read stays put; and
// it says whether the reader is at the end.
export const eyes = { before() {}, atEnd: () => true };

const last = () => messages.value[messages.value.length - 1];
export const newest = () => (messages.value.length ? last().seq : 0);

const same = (a, b) => a.length === b.length && a.every((x, i) => x === b[i]);

// place holds messages and the turns that a page brings with them, in place of those held for
// the same stretch; what is no longer held goes.
function place(ms, page) {
  const from = page.messages.length ? page.messages[0].seq : 0;
  const to = page.messages.length ? page.messages[page.messages.length - 1].seq : -1;
  const fresh = page.turns || [];
  const known = new Set(fresh.map((e) => e.turn_id));
  const others = turns.value.filter((e) => (e.after_seq < from || e.after_seq > to) && !known.has(e.turn_id));
  const first = ms.length ? ms[0].seq : 0;
  batch(() => {
    messages.value = ms;
    if (!same(without.value, page.without || [])) without.value = page.without || [];
    if (page.meta) meta.value = { ...meta.value, ...page.meta };
    turns.value = [...others, ...fresh].filter((e) => ms.length && e.after_seq >= first && e.after_seq <= ms[ms.length - 1].seq);
  });
}

// after are the turns to be shown after message seq, in the order in which they began.
export const after = (seq) => turns.value.filter((e) => e.after_seq === seq).sort((a, b) => a.started_at - b.started_at);

let visit = 0;

// holds reports whether an entry is that of a branch, or of one that it goes on from and is shown as one with.
export const holds = (b, id) => b.id === id || (b.joined || []).includes(id);

// elsewhere finds the version of a conversation that has a message which its current path lacks.
async function elsewhere(id, seq, branch) {
  const all = (await api.branches(id)).branches;
  const has = all.filter((b) => b.head_seq >= seq && b.messages > 0 && !b.current);
  const of = has.find((b) => holds(b, branch)) || has.sort((a, b) => b.updated_at - a.updated_at)[0];
  return { seq, branch: of ? of.id : null, head: (all.find((b) => b.current) || { head_seq: 0 }).head_seq };
}

// open shows a conversation around seq, or its end, and returns the turn that runs in it. A branch
// says which version of the message is meant; where the current path has another one, or none,
// astray says so.
export async function open(id, seq, branch) {
  const mine = ++visit;
  const meant = (m) => m.seq === seq && (!branch || m.branch === branch);
  astray.value = null;
  if (!conversation.value || conversation.value.id !== id) {
    batch(() => { conversation.value = null; messages.value = []; without.value = []; turns.value = []; meta.value = {}; opening.value = true; });
  }
  if (seq && conversation.value && messages.value.some(meant)) {
    target.value = { seq };
    return { id, running: null };
  }
  const page = seq > 10 ? { after: seq - 10 } : seq ? { before: PAGE + 1 } : {};
  let gone = false;
  const messagesOf = (which) => api.listMessages(id, { ...which, limit: PAGE, html: true });
  const read = async () => {
    const [c, m] = await Promise.all([api.getConversation(id), messagesOf(page)]);
    if (!seq || m.messages.some(meant)) return [c, m, null];
    const lost = await elsewhere(id, seq, branch);
    return [c, m.messages.some((x) => x.seq === seq) ? m : await messagesOf({}), lost];
  };
  const got = await attempt(() => read().catch((err) => { gone = err.status === 404; if (!gone) throw err; }));
  if (mine !== visit) return null;
  batch(() => { opening.value = false; missing.value = gone ? id : null; });
  if (!got) return null;
  const [c, m, lost] = got;
  batch(() => {
    conversation.value = c;
    head.value = Math.max(c.messages, m.messages.length ? m.messages[m.messages.length - 1].seq : 0);
    turns.value = [];
    place(m.messages, m);
    astray.value = lost;
    target.value = { seq: m.messages.some((x) => x.seq === seq) ? seq : 0 };
  });
  return { id: c.id, running: m.running || null };
}

// close shows no conversation.
export function close() {
  ++visit;
  batch(() => { conversation.value = null; messages.value = []; without.value = []; turns.value = []; opening.value = false; missing.value = null; astray.value = null; head.value = 0; });
}

// adopt opens a conversation that was just made and is empty.
export function adopt(c) {
  ++visit;
  batch(() => { conversation.value = c; messages.value = []; without.value = []; turns.value = []; missing.value = null; astray.value = null; head.value = 0; });
  keep(c);
}

let paging = false;
async function page(fields, join) {
  if (paging) return;
  paging = true;
  const mine = visit;
  const id = conversation.value.id;
  const got = await attempt(() => api.listMessages(id, { ...fields, limit: PAGE, html: true }));
  paging = false;
  if (!got || mine !== visit || !got.messages.length) return;
  eyes.before();
  place(join(got.messages), got);
}

export const loadOlder = () => older.value && page({ before: messages.value[0].seq },
  (ms) => [...ms.filter((m) => m.seq < messages.value[0].seq), ...messages.value].slice(0, HELD));

export const loadNewer = () => newer.value && page({ after: newest() },
  (ms) => [...messages.value, ...ms.filter((m) => m.seq > newest())].slice(-HELD));

// catchUp brings in what was stored since; a reader far from the end only learns that there is more.
export async function catchUp(seq = 0) {
  await renewing;
  const id = conversation.value && conversation.value.id;
  if (!id || (seq && seq <= newest())) return;
  if (newer.value) { head.value = Math.max(head.value, seq); return; }
  const mine = visit;
  for (let rounds = 0; rounds < 20; rounds++) {
    const from = newest();
    const got = await api.listMessages(id, { after: Math.max(0, from - 1), limit: 200, html: true }); // with what became of the newest
    if (mine !== visit) return;
    const all = [...messages.value, ...got.messages.filter((m) => m.seq > newest())];
    if (all.length) {
      eyes.before();
      batch(() => {
        head.value = Math.max(head.value, all[all.length - 1].seq);
        place(eyes.atEnd() ? all.slice(-HELD) : all, got);
      });
    }
    if (got.next === null || from === 0) return;
  }
}

// reread asks for the conversation's own fields again.
export async function reread() {
  const id = conversation.value && conversation.value.id;
  if (!id) return;
  const c = await attempt(() => api.getConversation(id));
  if (c && conversation.value && conversation.value.id === c.id) { conversation.value = c; keep(c); }
}

export async function change(fields) {
  const c = await attempt(() => api.patchConversation(conversation.value.id, fields));
  if (c && conversation.value && conversation.value.id === c.id) conversation.value = c;
  if (c) keep(c);
  return c;
}

let renewing = null; // what catches up waits for it: it would be left out of what is read now

// renew shows a conversation whose head was moved, from its end. It is the conversation's new
// state at once, so that the feed, which tells the same, does not begin over.
export function renew(c) {
  return (renewing = renewed(c));
}

async function renewed(c) {
  const mine = ++visit;
  const was = conversation.value;
  conversation.value = c;
  const got = await attempt(() => api.listMessages(c.id, { limit: PAGE, html: true }));
  if (mine !== visit) return;
  if (!got) { conversation.value = was; return; } // the next change of it tries again
  batch(() => {
    head.value = c.messages;
    astray.value = null;
    turns.value = [];
    place(got.messages, got);
    target.value = { seq: 0 };
  });
  keep(c);
}

// toEnd shows the newest messages.
export const toEnd = () => conversation.value && open(conversation.value.id, 0);
