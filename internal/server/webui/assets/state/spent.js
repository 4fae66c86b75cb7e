// What calls of models for one conversation have cost.
import { get, query } from './api.js';
import { attempt } from './notices.js';

// of returns a line for each model and currency, the dearest in tokens first.
export async function of(id) {
  const got = await attempt(() => get('/api/usage' + query({ group_by: 'model', conversation: id })));
  return got ? got.usage.sort((a, b) => b.total_tokens - a.total_tokens) : [];
}
