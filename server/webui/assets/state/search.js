// Search: messages by words across everything or here, or lines of this conversation by a
// regular expression; and where a find leads.
import { convo, get, query } from './api.js';
import { titleFor } from './conversations.js';
import { marks } from './marks.js';
import { covers, panel, searchOpen } from './panels.js';
import { go } from './place.js';
import { read, reading } from './reader.js';
import { typed } from './reference.js';
import { marked } from './text.js';
import { t } from './words.js';

// last is what was searched for, for when the search is opened again.
export const last = { text: '', mode: 'everywhere', match: false };

export const close = () => { searchOpen.value = false; };

// find returns rows and a note on how many there are. mode is everywhere, here or lines;
// match (of lines only) tells upper and lower case apart.
export async function find({ mode, text, match }, id, signal) {
  if (mode === 'lines') {
    const g = await get(convo(id, '/grep') + query({ pattern: text, max_results: 50, case_sensitive: match }), signal);
    return { rows: g.matches.map((m) => ({ kind: 'line', m })), note: t('matches', g.matches.length, g.total, g.partial) };
  }
  const s = await get('/api/search' + query({ q: text.trim(), conversation: mode === 'here' ? id : null, limit: 20, around: 1 }), signal);
  const titles = await Promise.all(s.hits.map((h) => titleFor(h.conversation_id)));
  return { rows: s.hits.map((h, i) => ({ kind: 'hit', h, title: titles[i] })), note: t('hits', s.hits.length, s.truncated) };
}

// choose goes to what a row found; what is on no path, or has no message, opens in the reader.
export function choose(row, id) {
  close();
  if (covers()) panel.value = null;
  if (row.kind === 'line') {
    if (row.m.seq) go(id, row.m.seq);
    else read(id, row.m.ref, '', row.m.line);
  } else if (row.h.on_path) {
    const found = marked(row.h.snippet || '', row.h.spans).filter((p) => p.mark).map((p) => p.text);
    marks.value = { conversation: row.h.conversation_id, words: [...new Set(found)], seqs: [row.h.seq] };
    go(row.h.conversation_id, row.h.seq);
  }
  else reading.value = { title: `${row.title} · #${row.h.seq}`, text: row.h.content };
}

// near is the beginning of the text of the first of some messages.
export const near = (ms) => (ms && ms.length ? typed(ms[0].parts).slice(0, 200) : '');
