// The place that is shown: #<conversation>/<seq> in the address. Everything that moves goes
// through it.
import { signal } from '../vendor/signals-core.mjs';

export const place = signal({ id: null, seq: 0 });

export function parse(hash) {
  const [id, seq] = hash.replace(/^#/, '').split('/');
  return { id: id || null, seq: Number(seq) || 0 };
}

export const href = (id, seq) => (id ? `#${id}${seq ? '/' + seq : ''}` : '#');
export const same = (a, b) => href(a.id, a.seq) === href(b.id, b.seq);

// go moves; going to where one is already moves there again.
export function go(id, seq) { place.value = { id: id || null, seq: seq || 0 }; }

// arrive names a place without going there: the conversation is open already.
export function arrive(id) { place.value = { id, seq: 0, arrived: true }; }
