// The message that something points at: a number in an answer, a row of a look-up, a hit.
import { signal } from '../vendor/signals-core.mjs';

export const lit = signal(0); // its seq; 0 for none

export const light = (seq) => { lit.value = seq; };
export const dim = (seq) => { if (lit.value === seq) lit.value = 0; };
