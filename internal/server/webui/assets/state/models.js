// The models that are set up here: which one the open conversation uses, or the next one will,
// and choosing another.
import { computed, signal } from '../vendor/signals-core.mjs';
import { api } from './api.js';
import { manifest, refresh } from './context.js';
import { begin, fresh } from './fresh.js';
import { lang, t } from './words.js';
import * as thread from './thread.js';

export const models = signal([]); // as the server lists them, its default first

// learn asks once. Where that fails nothing can be chosen.
export async function learn() {
  try { models.value = (await api.listModels()).models || []; } catch { models.value = []; }
}

// used is the name that the next request goes to; empty leaves it to the server.
const used = computed(() => {
  const c = thread.conversation.value;
  if (!c) return fresh.value.model || '';
  const m = manifest.value;
  return c.model || (m && m.conversation_id === c.id && m.model) || '';
});

// current is the entry of that model. One that is not listed has only a name.
export const current = computed(() => (used.value ? models.value.find((m) => m.name === used.value) || { name: used.value } : models.value.find((m) => m.default) || null));

// choose sets the model of the open conversation, or that of the next one.
export async function choose(name) {
  const c = thread.conversation.value;
  if (!c) { begin({ model: name }); return; }
  if (name !== c.model && await thread.change({ model: name })) await refresh(c.id);
}

// find are the models whose names hold every word.
export function find(words) {
  const all = words.toLowerCase().split(/\s+/).filter(Boolean);
  return models.value.filter((m) => all.every((w) => m.name.toLowerCase().includes(w)));
}

// called is a model's name without its provider.
export const called = (m) => (m.provider ? m.name.slice(m.provider.length + 1) : m.name);

// from is who provides it, and where it runs.
export const from = (m) => (m.offline ? t('composer.builtIn') : [m.provider, m.here && t('composer.here')].filter(Boolean).join(' · '));

const short = (n) => String(Number(n.toFixed(n < 10 ? 1 : 0)));

// span is a window as people say it: 32k, 200k, 1M.
export function span(tokens) {
  if (!tokens) return '';
  const k = tokens % 1000 === 0 ? 1000 : 1024;
  return tokens >= 1e6 ? `${short(tokens / k / k)}M` : tokens >= 1000 ? `${short(tokens / k)}k` : String(tokens);
}

function money(x, currency) {
  const digits = Number.isInteger(x) ? 0 : 2;
  try {
    return new Intl.NumberFormat(lang.value === 'zh' ? 'zh-CN' : 'en-US', { style: 'currency', currency, currencyDisplay: 'narrowSymbol',
      minimumFractionDigits: digits, maximumFractionDigits: 4 }).format(x);
  } catch { return `${x} ${currency}`; } // not a currency's code
}

// price is what a million tokens cost, or nothing where that is not known.
export function price(m) {
  if (m.price) return t('composer.price', money(m.price.input, m.price.currency), money(m.price.output, m.price.currency));
  return m.offline || m.here ? t('composer.noCost') : '';
}
