// The remotes that the store keeps one history with, for its admins.
import { signal } from '../vendor/signals-core.mjs';
import { api } from './api.js';

export const list = signal(null); // null until it is read
export const wrong = signal(''); // why it cannot be shown

export async function refresh() {
  try {
    list.value = (await api.listRemotes()).remotes;
    wrong.value = '';
  } catch (err) {
    wrong.value = err.message || String(err);
  }
}
