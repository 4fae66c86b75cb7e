// What a conversation is run with, or all of a project: the model, the limit, the policy and its
// numbers, the instructions. And what this server takes.
import { signal } from '../vendor/signals-core.mjs';
import { api } from './api.js';
import { refresh } from './context.js';
import { hush, say } from './notices.js';
import { learnLimits } from './offered.js';
import { read } from './policies.js';
import { change } from './thread.js';
import { t } from './words.js';

export const efforts = ['', 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
export const scopes = ['', 'conversation', 'project', 'all'];
export const keeps = ['', 'conversation', 'project'];
export const doors = ['', 'faithful', 'window', 'record'];

export const models = signal([]); // that are set up here, the default first

// learn asks for them, and for what this server takes; what does not come is not shown.
export async function learn() {
  const list = async () => { try { models.value = (await api.listModels()).models || []; } catch { /* not shown */ } };
  await Promise.all([list(), learnLimits()]);
}

// fields are what a form shows of a conversation or a project, as texts.
export function fields(of) {
  const s = of.settings || {};
  const b = of.budget || {};
  const numbers = Object.fromEntries(Object.entries(s.compaction || {}).map(([k, v]) => [k, String(v)]));
  return {
    title: of.title || '', model: of.model || '', limit: of.limit ? String(of.limit) : '', policy: of.policy || '', instructions: of.instructions || '',
    effort: s.reasoning_effort || '', scope: s.recall_scope || '', keep: s.keep || '', door: s.door || '', agents: Boolean(s.agents), archive: Boolean(s.archive_on_compact), numbers,
    tokens: b.tokens_per_day ? String(b.tokens_per_day) : '', money: b.money_per_day ? String(b.money_per_day) : '', currency: b.currency || '',
  };
}

const limit = (f) => Math.max(0, Math.floor(Number(f.limit) || 0));

// sent is a form as a conversation is changed by it; a number that is out of bounds is in wrong.
export function sent(f, was = fields({})) {
  const { numbers, wrong } = read(f.numbers);
  const settings = { compaction: numbers, recall_scope: f.scope };
  if (f.effort !== was.effort) settings.reasoning_effort = f.effort;
  if (f.agents !== was.agents) settings.agents = f.agents;
  if (f.archive !== was.archive) settings.archive_on_compact = f.archive;
  return { body: { model: f.model, limit: limit(f), policy: f.policy, instructions: f.instructions, settings }, wrong };
}

// stored is a form as a project is stored with it, in place of everything that was. What the form
// does not show stays.
export function stored(f, of = {}) {
  const { numbers, wrong } = read(f.numbers);
  const { thinking, thinking_budget } = of.settings || {};
  const settings = { ...(Object.keys(numbers).length && { compaction: numbers }), ...(f.scope && { recall_scope: f.scope }), ...(f.keep && { keep: f.keep }), ...(f.door && { door: f.door }),
    ...(f.effort ? { reasoning_effort: f.effort } : thinking !== undefined && { thinking }), ...(thinking_budget && { thinking_budget }) };
  const budget = { ...(Number(f.tokens) > 0 && { tokens_per_day: Math.floor(Number(f.tokens)) }),
    ...(Number(f.money) > 0 && { money_per_day: Number(f.money), ...(f.currency && { currency: f.currency }) }) };
  return { body: { title: f.title.trim(), instructions: f.instructions, model: f.model, policy: f.policy, limit: limit(f), settings,
    ...(Object.keys(budget).length && { budget }) }, wrong };
}

// save returns whether the settings were taken. An empty limit is the model's own.
export async function save(id, form, was) {
  hush();
  const { body, wrong } = sent(form, was);
  if (wrong.length || !await change(body)) return false;
  say(t('saved'));
  refresh(id);
  return true;
}
