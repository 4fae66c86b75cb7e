// Several conversations at once: which are chosen.
import { signal } from '../vendor/signals-core.mjs';

export const chosen = signal(null); // a Set of ids while one chooses, else null
let anchor = null; // where a run of them begins

export function begin(id) {
  chosen.value = new Set(id ? [id] : []);
  anchor = id || null;
}

export function end() {
  chosen.value = null;
  anchor = null;
}

// toggle chooses one or lets it go; with run, all from the one before to this in the order of ids
// become as that one is.
export function toggle(id, run, ids) {
  const to = new Set(chosen.value || []);
  const [a, b] = run && anchor ? [ids.indexOf(anchor), ids.indexOf(id)] : [-1, -1];
  if (a >= 0 && b >= 0) {
    const yes = to.has(anchor);
    for (const x of ids.slice(Math.min(a, b), Math.max(a, b) + 1)) if (yes) to.add(x); else to.delete(x);
  } else if (!to.delete(id)) to.add(id);
  anchor = id;
  chosen.value = to;
}

// drop lets go what is not there any more.
export function drop(id) {
  if (!chosen.value || !chosen.value.has(id)) return;
  const to = new Set(chosen.value);
  to.delete(id);
  chosen.value = to;
}
