// Where what was found leads: to its message, whose hits stay marked; and what else can be done
// with it from afar.
import { batch } from '../vendor/signals-core.mjs';
import { api } from './api.js';
import { keep, refresh } from './conversations.js';
import { num } from './figures.js';
import { marks } from './marks.js';
import { attempt, say } from './notices.js';
import { covers, panel } from './panels.js';
import { go, href } from './place.js';
import { read, reading } from './reader.js';
import { typed } from './reference.js';
import { at, close, count, fields, giveUp, rows, text } from './search.js';
import { marked } from './text.js';
import { conversation, reread } from './thread.js';
import { t } from './words.js';

const MARKED = 400; // hits of one conversation that are marked after the jump

// link is the address that a row leads to, for another tab; empty where there is none.
export function link(row) {
  if (row.kind === 'conversation') return href(row.c.id);
  if (row.kind === 'line') return row.m.seq ? href(conversation.peek().id, row.m.seq) : '';
  return row.kind === 'hit' && row.h.on_path ? href(row.h.conversation_id, row.h.seq) : '';
}

// wordsOf are the words that matched in a hit, as they are written there.
export const wordsOf = (h) => [...new Set(marked(h.snippet || '', h.spans).filter((p) => p.mark).map((p) => p.text.toLowerCase()))];

// remember keeps what was found in a conversation: at once what is known, and then all of it.
async function remember(id) {
  const mine = rows.peek().filter((r) => r.kind === 'hit' && r.h.conversation_id === id).map((r) => r.h);
  const seqs = new Set(mine.filter((h) => h.on_path).map((h) => h.seq));
  const words = new Set(mine.flatMap(wordsOf));
  const hold = () => { marks.value = { conversation: id, words: [...words], seqs: [...seqs].sort((a, b) => a - b) }; return marks.peek(); };
  const held = hold();
  const asked = { ...fields(), conversation: id, project: '', limit: 100, around: 0 };
  for (let offset = 0; offset !== null && seqs.size < MARKED;) {
    const s = await api.search({ ...asked, offset }).catch(() => null);
    if (!s || marks.peek() !== held) return;
    for (const h of s.hits) {
      if (h.on_path) seqs.add(h.seq);
      for (const w of wordsOf(h)) words.add(w);
    }
    offset = s.next ?? null;
  }
  hold();
}

// ask has a command confirmed that says why; the safe answer is the one that Enter takes.
function ask(row) {
  giveUp(); // its results would take the place of the question
  const no = { name: 'no', icon: 'close', run() {} };
  batch(() => {
    rows.value = [{ ...row, sure: true }, { kind: 'command', c: no, label: t('cancel') }];
    count.value = { kind: 'question', text: t(row.c.sure) };
    at.value = 1;
  });
}

// choose goes to what a row found, or does it. What is on no path, or has no message, opens in
// the reader.
export function choose(row) {
  const here = conversation.peek();
  if (row.kind === 'command' && row.c.sure && !row.sure) { ask(row); return; }
  close();
  if (row.kind === 'command') { text.value = ''; row.c.run(); return; }
  if (covers()) panel.value = null;
  if (row.kind === 'conversation') { text.value = ''; go(row.c.id); return; }
  if (row.kind === 'line' && !row.m.seq) { read(here.id, row.m.ref, '', row.m.line); return; }
  if (row.kind === 'line') {
    marks.value = { conversation: here.id, words: [], seqs: [...new Set(rows.peek().map((r) => r.m.seq).filter(Boolean))] };
    go(here.id, row.m.seq);
  } else if (row.h.on_path) {
    remember(row.h.conversation_id);
    go(row.h.conversation_id, row.h.seq);
  } else reading.value = { title: `${row.title} · #${row.h.seq}`, text: row.h.content };
}

// pinnable: what somebody said on the current path can be pinned.
export const pinnable = (h) => h.on_path && (h.role === 'user' || h.role === 'assistant');

// pin pins the message of a hit in its conversation, or unpins it.
export async function pin(h) {
  const c = await attempt(() => api.getConversation(h.conversation_id));
  if (!c) return;
  const was = c.pinned_seqs.includes(h.seq);
  const pinned_seqs = was ? c.pinned_seqs.filter((s) => s !== h.seq) : [...c.pinned_seqs, h.seq];
  const fresh = await attempt(() => api.patchConversation(c.id, { pinned_seqs }));
  if (!fresh) return;
  keep(fresh);
  rows.value = rows.peek().map((r) => (r.kind === 'hit' && r.h.message_id === h.message_id ? { ...r, h: { ...r.h, pinned: !was } } : r));
  say(t(was ? 'palette.unpinned' : 'palette.pinned', num(h.seq)));
  if (conversation.peek() && conversation.peek().id === c.id) reread();
}

// fork continues from the message of a hit in a new conversation, and goes there.
export async function fork({ h, title }) {
  const name = t('copyOf', Array.from(title.replace(/^copy of |的副本$/g, '')).slice(0, 480).join(''));
  const c = await attempt(() => api.fork(h.conversation_id, { seq: h.seq, title: name }));
  if (!c) return;
  close();
  refresh();
  go(c.id);
}

// near is the beginning of what a message beside a hit says, or of what it holds.
export function near(m) {
  const held = m.parts.map((p) => (p.type === 'tool_call' ? `${p.name} ${typeof p.arguments === 'string' ? p.arguments : JSON.stringify(p.arguments)}` : p.text || p.name || '')).join(' ');
  return (typed(m.parts).trim() || held.trim()).slice(0, 300);
}
