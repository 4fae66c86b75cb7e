// What the page tells its reader: a banner for what went wrong, a toast for what was done.
import { signal } from '../vendor/signals-core.mjs';

export const banner = signal(null); // {text}; no text means that the server does not respond
export const toast = signal(null); // {text, action?, run?}

let fading = 0;
export function say(text, action, run) {
  clearTimeout(fading);
  toast.value = { text, action, run };
  fading = setTimeout(() => { toast.value = null; }, action ? 9000 : 4000);
}

export function complain(err) {
  if (!err || err.name === 'AbortError' || err.status === 401) return; // the page asks for a key instead
  banner.value = { text: err instanceof TypeError ? null : err.message || String(err) };
}

// hush takes the banner away: the reader went on to something else.
export function hush() { banner.value = null; }

// attempt runs fn; what goes wrong is shown, and returned as undefined.
export async function attempt(fn) {
  try {
    return await fn();
  } catch (err) {
    complain(err);
    return undefined;
  }
}
