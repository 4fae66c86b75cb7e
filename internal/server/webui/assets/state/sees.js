// Whose eyes the conversation is seen with: yours, or the model's. The model's are those of the
// next request, or of a turn that is over.
import { signal } from '../vendor/signals-core.mjs';

export const sees = signal('you'); // 'you' | 'model'
export const turn = signal(null); // the turn whose request is shown; null for the next one
export const keep = signal(0); // the seq that stays where it is when the eyes change; 0 for none

// look changes the eyes.
export function look(whose, { turn: of = null, seq = 0 } = {}) {
  keep.value = seq;
  turn.value = whose === 'model' ? of : null;
  sees.value = whose;
}

let reacher = null;

// reaching says how the model's view brings a layer into view, until the function that it
// returns is called.
export function reaching(fn) {
  reacher = fn;
  return () => { if (reacher === fn) reacher = null; };
}

// reach brings a layer into the model's view; false where that is not shown.
export function reach(layer) {
  if (sees.value !== 'model' || !reacher) return false;
  reacher(layer);
  return true;
}

// blink changes to the other eyes.
export const blink = (seq = 0) => look(sees.value === 'you' ? 'model' : 'you', { seq });
