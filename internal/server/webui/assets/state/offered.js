// What this server takes and offers: how large things may be, the policies of compaction with
// their numbers, the formats and tools that conversations come from and leave for.
import { signal } from '../vendor/signals-core.mjs';
import { api } from './api.js';

export const limits = signal(null);

// learnLimits asks the server; where it does not answer, nothing is known.
export async function learnLimits() {
  try { limits.value = await api.limits(); } catch { /* not shown */ }
}

export const list = (name) => (limits.value && limits.value[name]) || [];
