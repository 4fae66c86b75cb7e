// What the next new conversation begins with: its model, how it thinks, its instructions, and
// whatever else was chosen before its first message.
import { signal } from '../vendor/signals-core.mjs';

export const fresh = signal({}); // fields of POST /api/conversations

// begin adds fields; one that is empty is left to the server.
export function begin(fields) {
  const all = Object.entries({ ...fresh.value, ...fields });
  fresh.value = Object.fromEntries(all.filter(([, v]) => v !== undefined && v !== null && v !== ''));
}
