// How much the model thinks before it answers: a setting of the open conversation, or of the
// next one.
import { computed } from '../vendor/signals-core.mjs';
import { begin, fresh } from './fresh.js';
import { current } from './models.js';
import * as thread from './thread.js';
import { t } from './words.js';

const OFF = 'none';

// choices are the efforts that the model in use can be set to: '' leaves it to the model. There
// are none where it does not think. Of a model that is not listed the server will say.
export const choices = computed(() => {
  const m = current.value;
  const efforts = m ? m.efforts || ['low', 'medium', 'high'] : [];
  return efforts.length ? ['', OFF, ...efforts.filter((e) => e !== OFF)] : [];
});

// effort is what was chosen.
export const effort = computed(() => {
  const c = thread.conversation.value;
  const s = (c ? c.settings : fresh.value.settings) || {};
  return s.reasoning_effort || (s.thinking === false ? OFF : '');
});

export const named = (e) => t('composer.effort.' + (e || 'own'));

export async function choose(e) {
  if (thread.conversation.value) await thread.change({ settings: { reasoning_effort: e } });
  else begin({ settings: e ? { reasoning_effort: e } : null });
}
