// Searches of the web: whether the next question is searched for, who can do it, and the
// pages that were found.
import { computed, signal } from '../vendor/signals-core.mjs';
import { current, models } from './models.js';

export const on = signal(false);

// available says whether anybody can search the web for the open conversation. Of a model
// that the server does not list the server itself will say so.
export const available = computed(() => {
  const known = models.value.find((m) => m === current.value);
  return known ? Boolean(known.web_search) : models.value.some((m) => m.web_search);
});

export const wanted = () => on.value && available.value;

// noted are the searches of a turn with one more, in place of one with the same query.
export const noted = (searches, s) => (searches.some((x) => x.query === s.query)
  ? searches.map((x) => (x.query === s.query ? s : x)) : [...searches, s]);

// hostOf is the host of an address that may be opened, or null.
export function hostOf(url) {
  try {
    const u = new URL(url);
    return u.protocol === 'https:' || u.protocol === 'http:' ? u.host : null;
  } catch { return null; }
}

// sources are the pages of searches, each once, in their order.
export function sources(searches) {
  const seen = new Map();
  for (const s of searches || []) for (const r of s.results || []) if (!seen.has(r.url) && hostOf(r.url)) seen.set(r.url, r);
  return [...seen.values()];
}
