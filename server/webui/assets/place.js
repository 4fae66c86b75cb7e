// The place in the address: #<conversation>/<seq>. Everything that moves goes through it.
import { signal } from '@preact/signals';

function read() {
  const [id, seq] = location.hash.slice(1).split('/');
  return { id: id || null, seq: Number(seq) || 0 };
}

export const place = signal(read());
export const href = (id, seq) => `#${id}${seq ? '/' + seq : ''}`;

// go moves; going to where one is already moves there again.
export function go(id, seq) {
  const to = id ? href(id, seq) : '#';
  if (location.hash === to || (!id && !location.hash)) place.value = read();
  else location.hash = to;
}

// settle names a place without going there: the conversation is open already.
export function settle(id) {
  history.replaceState(null, '', href(id));
  place.value = { id, seq: 0, settled: true };
}

addEventListener('hashchange', () => { place.value = read(); });
