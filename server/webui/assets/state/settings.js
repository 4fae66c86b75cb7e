// What a conversation is run with: the limit, the policy, the instructions.
import { refresh } from './context.js';
import { hush, say } from './notices.js';
import { change } from './thread.js';
import { t } from './words.js';

export const policies = ['', 'auto', 'snapshot', 'rolling', 'segments'];
export const policyName = (p) => (p === '' ? t('policyDefault') : p === 'auto' ? t('policy.auto') : p);

// save returns whether the settings were taken. An empty limit is the model's own.
export async function save(id, { limit, policy, instructions }) {
  hush();
  if (!await change({ limit: Number(limit) || 0, policy, instructions })) return false;
  say(t('saved'));
  refresh(id);
  return true;
}
