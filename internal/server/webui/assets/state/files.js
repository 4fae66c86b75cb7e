// Completion of paths: what an @ that is being written may name, in the folders of the open
// conversation.
import { signal } from '../vendor/signals-core.mjs';
import { api } from './api.js';
import { conversation } from './thread.js';

const PAUSE = 120; // ms without a key before the server is asked
const MOST = 30;

export const offers = signal(null); // {mark, files, at}; at is the file that Enter takes

// markAt is the mark that is being written before place at of a text: {from, to, path}, with
// what it replaces once a file is taken; or null.
export function markAt(text, at) {
  const start = text.lastIndexOf('\n', at - 1) + 1;
  const open = text.lastIndexOf('@[', at - 2);
  if (at >= 2 && open >= start && depth(text, open + 2, at) > 0) {
    const path = text.slice(open + 2, at);
    if (path.startsWith(' ') || path.includes('{')) return null; // prose, or a recall tool
    const rest = /^[^\n@[\]]*\]/.exec(text.slice(at));
    return { from: open, to: at + (rest ? rest[0].length : 0), path };
  }
  const plain = /(?:^|[^\w.@+-])@([^\s@[\]{}]*)$/.exec(text.slice(start, at));
  return plain ? { from: at - plain[1].length - 1, to: at, path: plain[1] } : null;
}

// depth is how many brackets are open at to, with one open at from; 0 once that is closed.
function depth(text, from, to) {
  let n = 1;
  for (let i = from; i < to && n > 0; i++) n += text[i] === '[' ? 1 : text[i] === ']' ? -1 : 0;
  return n;
}

let waiting = 0;
let asking = null; // the AbortController of a request
let closed = null; // where the mark begins whose list was closed by hand

function settle() {
  clearTimeout(waiting);
  if (asking) asking.abort();
  asking = null;
}

export function close(byHand = false) {
  settle();
  closed = byHand && offers.value ? offers.value.mark.from : null;
  offers.value = null;
}

// look offers what the mark before place at may name; it closes the list where there is none.
export function look(text, at) {
  const c = conversation.value;
  const mark = c && c.roots && c.roots.length ? markAt(text, at) : null;
  if (!mark) { close(); return; }
  if (mark.from === closed) return;
  settle();
  closed = null;
  const was = offers.value;
  if (was) offers.value = was.mark.from === mark.from ? { ...was, mark } : null;
  waiting = setTimeout(() => ask(c.id, mark), PAUSE);
}

async function ask(id, mark) {
  const mine = (asking = new AbortController());
  let files = [];
  try {
    files = (await api.listFiles(id, { prefix: mark.path, limit: MOST, signal: mine.signal })).files;
  } catch { /* nothing is offered */ }
  if (asking !== mine) return;
  asking = null;
  if (files.length === 1 && !files[0].path.endsWith('/') && files[0].path === mark.path) files = []; // it is written out
  offers.value = files.length ? { mark, files, at: 0 } : null;
}

// move goes up or down the list, from its end to its beginning.
export function move(by) {
  const o = offers.value;
  offers.value = { ...o, at: (o.at + by + o.files.length) % o.files.length };
}

// take puts file i of the list into a text and returns {text, at}: at is where one writes on,
// in a folder before its bracket, so that it can be completed further.
export function take(text, i = offers.value.at) {
  const { mark, files } = offers.value;
  const { path } = files[i];
  const into = `@[${path}]`;
  close();
  return { text: text.slice(0, mark.from) + into + text.slice(mark.to), at: mark.from + into.length - (path.endsWith('/') ? 1 : 0) };
}

// leave is where one writes on after the list was closed by hand: behind the bracket of a
// folder that was taken.
export const leave = (text, at) => (text.slice(at - 1, at + 1) === '/]' ? at + 1 : at);
