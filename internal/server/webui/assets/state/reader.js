// What the reader shows: an original behind a ref, page by page; a text that is at hand; or an image.
import { signal } from '../vendor/signals-core.mjs';
import { api } from './api.js';

const PAGE = 32 << 10; // bytes
const SEEK = 64; // pages that are read at most to reach a line

export const reading = signal(null); // {conversation, ref, title, line?}, {title, text, bare?} or {conversation, title, picture}; bare: no original

export const read = (conversation, ref, title, line) => { reading.value = { conversation, ref, title, line }; };
export const close = () => { reading.value = null; };

// none is what was read before the first page.
export const none = { text: '', next: 0, bytes: 0, done: false, asked: false };

const lines = (s) => s.split('\n').length - 1;

// more is what was read and the next page, or the pages up to the line that is looked for.
// It is null once gone() says that nobody reads any more.
export async function more(got, { conversation, ref, line }, gone) {
  let at = got;
  for (let i = 0; i < SEEK; i++) {
    const p = await api.readRef(conversation, ref, { offset: at.next || null, limit: PAGE });
    if (gone()) return null;
    at = { text: at.text + p.content, next: p.next_offset, bytes: p.bytes, done: p.done, asked: true };
    if (p.done || !line || lines(at.text) >= line) break;
  }
  return at;
}

// atLine cuts a text into what is before line n (from 1), the line, and what is after; null
// if there is no such line.
export function atLine(text, n) {
  let from = 0;
  for (let i = 1; i < n; i++) {
    const next = text.indexOf('\n', from);
    if (next < 0) return null;
    from = next + 1;
  }
  const to = text.indexOf('\n', from);
  return to < 0 ? [text.slice(0, from), text.slice(from), ''] : [text.slice(0, from), text.slice(from, to), text.slice(to)];
}
