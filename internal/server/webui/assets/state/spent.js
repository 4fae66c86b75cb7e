// What calls of models for one conversation have cost.
import { api } from './api.js';
import { attempt } from './notices.js';

// of returns a line for each model and currency, the dearest in tokens first.
export async function of(id) {
  const got = await attempt(() => api.usage({ group_by: 'model', conversation: id }));
  return got ? got.usage.sort((a, b) => b.total_tokens - a.total_tokens) : [];
}
