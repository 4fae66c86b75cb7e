// What the last search looked for, so that what it found stays marked after the jump, in the
// conversation and beside its scroll.
import { signal } from '../vendor/signals-core.mjs';

export const marks = signal(null); // {conversation, words: [text], seqs: [seq]}

export const forget = () => { marks.value = null; };
