// Keys, for an admin: which there are, making one, ending one.
import { signal } from '../vendor/signals-core.mjs';
import { api } from './api.js';
import { attempt, hush, say } from './notices.js';
import { t } from './words.js';

export const list = signal(null); // null until they are read
export const fresh = signal(null); // the key that was just made, with its secret: shown this once

export async function refresh() {
  const got = await attempt(() => api.listKeys());
  if (got) list.value = got.keys;
}

const DAY = 86400000;

// add makes a key. days is how long it lasts; 0 until it is revoked.
export async function add({ name, role, projects, days, door, tokens, money, currency }, now = Date.now()) {
  hush();
  const budget = tokens || money ? { tokens_per_day: tokens || undefined, money_per_day: money || undefined, currency: (money && currency) || undefined } : undefined;
  const made = await attempt(() => api.addKey({ name, role, projects, expires_at: days ? now + days * DAY : undefined, door: door || undefined, budget }));
  if (!made) return false;
  fresh.value = made;
  await refresh();
  return true;
}

export async function revoke(k) {
  hush();
  if (!await attempt(() => api.revokeKey(k.id))) return;
  if (fresh.value && fresh.value.id === k.id) fresh.value = null;
  say(t('set.revoked', k.name));
  await refresh();
}

// forget takes the secret away: nobody is shown it again.
export function forget() { fresh.value = null; }

// stateOf is what has become of a key: usable, revoked or expired.
export const stateOf = (k, now = Date.now()) => (k.revoked_at ? 'revoked' : k.expires_at && k.expires_at <= now ? 'expired' : 'usable');
