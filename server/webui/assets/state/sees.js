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

// blink changes to the other eyes.
export const blink = (seq = 0) => look(sees.value === 'you' ? 'model' : 'you', { seq });
