// One message: how its parts are named and abridged, and whether it is pinned.
import { refresh } from './context.js';
import { money, num, percent, seconds } from './figures.js';
import { typed } from './reference.js';
import { change, conversation } from './thread.js';
import { t } from './words.js';

const roles = { user: 'you', assistant: 'assistant', tool: 'tool' };

export const roleName = (role) => t(roles[role] || 'system');

// pretty is JSON with an indent; what is not JSON stays as it is.
export function pretty(json) {
  try { return JSON.stringify(typeof json === 'string' ? JSON.parse(json) : json, null, 2); } catch { return String(json); }
}

export const brief = (json) => (typeof json === 'string' ? json : JSON.stringify(json)) || '';
export const readable = (text) => (/^\s*[[{]/.test(text || '') ? pretty(text) : text);
export const firstLine = (text) => (text || '').trimStart().split('\n', 1)[0].slice(0, 160);

// taskOf is what a call gives a sub-agent to do; null for a call of another tool.
export const taskOf = (call) => (call.name === 'agent' ? taskIn(call.arguments) : null);

function taskIn(json) {
  try {
    const { task } = typeof json === 'string' ? JSON.parse(json) : json;
    return typeof task === 'string' ? task : null;
  } catch { return null; }
}

// original is the ref behind which the whole of a tool's result stands, if it was cut.
export const original = (result) => (result.artifact ? 'artifact:' + result.artifact : result.ref);

// artifactOf is where the bytes of a part are read.
export const artifactOf = (part, id) => `/api/artifacts/${part.artifact}?conversation=${encodeURIComponent(id)}`;

// pinnable: what somebody said can be pinned; the model still sees it when it is compacted.
export const pinnable = (m) => (m.role === 'user' || m.role === 'assistant') && !m.parts.some((p) => p.type === 'tool_call');

const pins = () => (conversation.value && conversation.value.pinned_seqs) || [];

export const pinned = (m) => pins().includes(m.seq);

// pin pins a message, or unpins it.
export async function pin(m) {
  const seqs = pinned(m) ? pins().filter((s) => s !== m.seq) : [...pins(), m.seq];
  if (await change({ pinned_seqs: seqs })) refresh(conversation.value.id);
}

// onlyThought says that an answer is nothing but what its model thought.
export const onlyThought = (m) => m.role === 'assistant' && m.parts.length > 0 && m.parts.every((p) => p.type === 'reasoning');

const saidIn = (m) => m.parts.filter((p) => p.type === (onlyThought(m) ? 'reasoning' : 'text'));

// source is a message's words as they are stored, which for an answer is Markdown.
export const source = (m) => (m.role === 'user' ? typed(m.parts) : saidIn(m).map((p) => p.text).join('\n\n'));

// factsOf is what an answer cost, as far as it is known: its model, what it read and wrote, how
// long it took since its question (began, Unix ms).
export function factsOf(m, began) {
  const u = m.usage;
  const took = u && began && m.created_at > began ? m.created_at - began : 0;
  const read = u && u.input_tokens ? t('message.in', num(u.input_tokens), u.cached_tokens ? percent(u.cached_tokens / u.input_tokens) : '') : '';
  return [m.model, read, u && u.output_tokens ? t('message.out', num(u.output_tokens)) : '', took ? seconds(took) : '', u && u.cost > 0 ? money(u.cost, u.currency || 'USD') : '']
    .filter(Boolean).join(' · ');
}
