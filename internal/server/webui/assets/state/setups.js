// The coding agents of this machine: how each is set up, what its hooks did, and whether they are told anything.
import { signal } from '../vendor/signals-core.mjs';
import { api } from './api.js';
import { attempt, hush } from './notices.js';

export const list = signal(null); // null until they are read
export const busy = signal(false);

export async function refresh() {
  busy.value = true;
  const got = await attempt(() => api.listAgents());
  busy.value = false;
  if (got) list.value = got.agents;
}

// silence has the hooks of an agent told nothing, or told again, and says whether that was done.
export async function silence(a, off) {
  hush();
  const now = await attempt(() => api.patchAgent(a.agent, { off }));
  if (!now) return false;
  list.value = list.value.map((x) => (x.agent === a.agent ? { ...x, ...now } : x));
  return true;
}

const sentences = { moved: 'agents.moved', other: 'agents.other', untrusted: 'agents.untrusted', doubled: 'agents.doubled', off: 'agents.switchedOff', unreadable: 'agents.unreadable', 'gave-up': 'agents.gaveUp' };

// obstacles are what keeps an agent from asking, each as a sentence's key with what it names.
export function obstacles(a) {
  const out = (a.problems || []).map((p) => [sentences[p.kind] || 'agents.unknown', p.why || (p.line ? `${p.file}:${p.line}` : p.file || ''), p.kind]);
  if (a.asked && !a.asked.asked) out.push(['agents.neverAsked']);
  if (a.asked && a.asked.slow) out.push(['agents.slow', a.asked.slow, a.asked.asked]);
  if (a.behind) out.push(['agents.behind', a.behind, a.sessions, a.agent]);
  return out;
}

// command is what sets an agent up, or mends it; nothing where there is nothing to be done.
export function command(a) {
  const mended = (a.problems || []).some((p) => ['moved', 'other'].includes(p.kind));
  const again = mended || (a.problems || []).some((p) => p.kind === 'gave-up');
  if (isService(a)) return again ? 'scrollback install --watch' : '';
  return !a.installed || mended ? `scrollback install --agent ${a.agent}` : '';
}

// isService says that it is not an agent, but what keeps collecting.
export const isService = (a) => a.agent === 'watch';
