// The numbers of messages in a text: teal where the model sees the message, amber where a card
// stands for it. Pointing at one lights what it names.
import { dim, light, lit } from '../state/lit.js';
import { within } from '../state/trace.js';

const seqOf = (a) => Number(a.dataset.seq) || 0;

// colour gives each link below el the state of the message it names.
export function colour(el) {
  if (!el) return;
  for (const a of el.querySelectorAll('a.ref[data-seq]')) {
    const seq = seqOf(a);
    a.classList.toggle('compacted', within(seq));
    a.classList.toggle('lit', lit.value === seq);
  }
}

const at = (e) => (e.target.closest ? e.target.closest('a.ref[data-seq]') : null);
const on = (e) => { const a = at(e); if (a) light(seqOf(a)); };
const off = (e) => { const a = at(e); if (a) dim(seqOf(a)); };

// pointing are the handlers of what holds such links.
export const pointing = { onMouseOver: on, onMouseOut: off, onFocusIn: on, onFocusOut: off };
