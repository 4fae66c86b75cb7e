// What was written and not sent, by conversation, as this browser remembers it: the newest
// ones, as much as it should hold.
import * as memory from './memory.js';

const NAME = 'drafts';
const MOST = 30; // conversations
const SIZE = 400_000; // characters of all

const held = new Map(); // what this tab knows; null where there is nothing

function shelf() {
  try {
    const all = JSON.parse(memory.get(NAME) || '[]');
    return Array.isArray(all) ? all.filter((e) => e && e.id) : [];
  } catch { return []; }
}

// stored is what the browser remembers now, which another tab may have changed.
export const stored = (id) => shelf().find((e) => e.id === id) || null;

// read is what there is of a conversation: {text, files, queue, fresh}, or null.
export function read(id) {
  if (!held.has(id)) held.set(id, stored(id));
  return held.get(id);
}

// write remembers it, and returns whether the browser does; null forgets. What does not fit
// goes, the oldest first.
export function write(id, entry) {
  held.set(id, entry && { ...entry, id });
  const others = shelf().filter((e) => e.id !== id);
  const all = entry ? [{ ...entry, id }, ...others].slice(0, MOST) : others;
  let size = 0;
  const fit = all.filter((e) => { size += JSON.stringify(e).length; return size <= SIZE; });
  memory.set(NAME, fit.length ? JSON.stringify(fit) : null);
  return Boolean(entry && stored(id));
}
