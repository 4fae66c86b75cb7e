// One message: how its parts are named and abridged, and whether it is pinned.
import { refresh } from './context.js';
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
