// The line to the server: whether it responds. The feed, which is always open, finds out.
import { signal } from '../vendor/signals-core.mjs';
import { banner, hush } from './notices.js';

export const down = signal(false);

// failed takes what a request failed with: no response at all is the line's.
export function failed(err) { if (err instanceof TypeError) down.value = true; }

// works says that the server responded; a banner that said otherwise goes.
export function works() {
  if (!down.value) return;
  down.value = false;
  if (banner.value && !banner.value.text) hush();
}
