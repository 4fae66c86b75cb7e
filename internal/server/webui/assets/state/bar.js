// The bar of the next request: how much of the budget each layer takes, where it compacts, what
// the message that is being written adds, and what an answer adds while it comes.
import { computed, effect, signal } from '../vendor/signals-core.mjs';
import { manifest, range } from './context.js';
import { num } from './figures.js';
import { panel } from './panels.js';
import { go } from './place.js';
import * as sees from './sees.js';
import { conversation } from './thread.js';
import * as turn from './turn.js';
import { t } from './words.js';

const SCALE = 1.15; // of the budget, which the whole bar stands for
const QUIET = 5000; // ms at least between two things said to a screen reader

// roughly is about how many tokens a text has: a quarter of its letters, and most of its Chinese ones.
export function roughly(text) {
  const wide = (text.match(/[\u2e80-\uffef]/g) || []).length;
  return Math.ceil((text.length - wide) / 4 + wide * 0.8);
}

// growing is about what the step that is being written adds to the next request.
export const growing = computed(() => {
  const s = turn.step.value;
  if (!turn.running.value || !s) return 0;
  return roughly(s.text) + s.calls.reduce((n, c) => n + roughly(JSON.stringify(c.arguments || '')), 0) +
    s.results.reduce((n, r) => n + roughly(r.text || r.preview || ''), 0);
});

const weight = (items, yes) => items.filter(yes).reduce((n, i) => n + i.tokens, 0);

// layers are what a manifest weighs, by the names that the bar has for it, in the order in
// which it is sent; the draft is last.
function layers(m, more) {
  const by = { instructions: 0, tools: 0, environment: 0, summary: 0, placeholders: 0, pins: 0, messages: more, request_only: 0 };
  for (const l of m.layers) {
    const pins = weight(l.items || [], (i) => i.kind === 'pin');
    const tools = weight(l.items || [], (i) => i.kind === 'tools');
    by.pins += pins;
    by.tools += tools;
    by[l.name === 'prompt' ? 'messages' : l.name] += l.tokens - pins - tools;
  }
  by.messages -= m.draft || 0;
  return [...Object.entries(by), ['draft', m.draft || 0]].filter(([, tokens]) => tokens > 0);
}

// figure is the bar of a manifest, with so many tokens more. Places are percent of its width.
export function figure(m, more = 0) {
  const tokens = m.tokens + more;
  const at = (x) => Math.min(100, (x / (m.budget * SCALE)) * 100);
  const limit = at(m.budget);
  let sum = 0;
  const segments = layers(m, more).map(([name, n]) => {
    const from = Math.min(limit, at(sum));
    sum += n;
    return { name, tokens: n, from, width: Math.min(limit, at(sum)) - from };
  });
  const over = Math.max(0, tokens - m.budget);
  return { tokens, budget: m.budget, reserve: Math.max(0, m.limit - m.budget), draft: m.draft || 0, segments, limit, over, overflow: at(tokens) - limit,
    tick: m.compacts_at > 0 && m.compacts_at < m.budget ? at(m.compacts_at) : null,
    left: over ? 0 : m.compacts_at > tokens ? m.compacts_at - tokens : m.budget - tokens, compacts: over === 0 && m.compacts_at > tokens };
}

export const bar = computed(() => {
  const [m, c] = [manifest.value, conversation.value];
  return m && c && m.conversation_id === c.id && m.budget > 0 ? figure(m, growing.value) : null;
});

// cut is what sending the message would compact first, or null.
export const cut = computed(() => (bar.value && !turn.running.value && manifest.value.compacts) || null);

export const named = (name) => t('composer.layer.' + name);

// rest is what there is to say beside the total.
export function rest(b) {
  if (b.over) return t('composer.over', num(b.over));
  if (turn.running.value) return t('composer.growing');
  return t(b.compacts ? 'composer.leftBefore' : 'composer.left', num(b.left));
}

export const cutSaid = (c) => t('composer.compacts', range(c));

// reach goes to a layer: in the model's view to it, and else to the first of its messages, or to
// what stands beside the conversation for what has none.
export function reach(name) {
  if (sees.reach(name === 'draft' ? 'prompt' : name)) return;
  const m = manifest.value;
  const of = name === 'pins' ? null : name;
  const items = m.layers.filter((l) => !of || l.name === of || (of === 'messages' && l.name === 'prompt')).flatMap((l) => l.items || []);
  const first = items.find((i) => i.seq > 0 && (name === 'pins') === (i.kind === 'pin'));
  if (first) go(m.conversation_id, first.seq);
  else panel.value = name === 'summary' || name === 'placeholders' ? 'receipts' : 'settings';
}

export const said = signal(''); // for screen readers, now and then

// begin says the totals as they change, politely.
export function begin() {
  let last = 0;
  let waiting = 0;
  return effect(() => {
    const b = bar.value;
    clearTimeout(waiting);
    if (!b) { said.value = ''; return; }
    const speak = () => {
      last = Date.now();
      said.value = t('composer.said', t('composer.total', num(b.tokens), num(b.budget)), rest(b), cut.value && cutSaid(cut.value));
    };
    waiting = setTimeout(speak, Math.max(500, last + QUIET - Date.now()));
  });
}
