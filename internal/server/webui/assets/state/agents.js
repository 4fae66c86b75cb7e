// Sub-agents: the conversations that others started, below those that they work for.
import { signal } from '../vendor/signals-core.mjs';
import { api } from './api.js';

const DEPTH = 4; // of agents below agents that are read ahead
const EACH = 50; // conversations that are asked about at once
const MOST = 200;

const all = signal({}); // by the conversation that they work for, newest change first
const open = signal({}); // by conversation: whether its agents are shown

export const agentsOf = (id) => all.value[id] || [];
export const isOpen = (id) => Boolean(open.value[id]);
export function toggle(id, yes = !isOpen(id)) { open.value = { ...open.value, [id]: yes }; }

// startedBy is the agent that a call of a conversation started, if it is known.
export const startedBy = (id, call) => agentsOf(id).find((c) => c.agent_of.call_id === call);

// load reads the agents of conversations, and theirs.
export async function load(ids, depth = DEPTH) {
  const fresh = [];
  for (let i = 0; i < ids.length; i += EACH) {
    const some = ids.slice(i, i + EACH);
    let got;
    try { got = await api.listConversations({ agent_of: some, limit: MOST }); } catch { return; } // they are shown later
    const by = Object.fromEntries(some.map((id) => [id, []]));
    for (const c of got.conversations) if (c.agent_of && by[c.agent_of.id]) by[c.agent_of.id].push(c);
    all.value = { ...all.value, ...by };
    fresh.push(...got.conversations.filter((c) => c.agent_of).map((c) => c.id));
  }
  if (fresh.length && depth > 1) await load(fresh, depth - 1);
}

// told puts a change of an agent where it is shown, and returns false for what is not an agent.
export function told(ev) {
  if (!ev.agent_of) return false;
  const { id } = ev.agent_of;
  const was = agentsOf(id);
  const c = was.find((x) => x.id === ev.conversation_id);
  if (!c && !ev.gone) { load([id], 1); return true; }
  const others = was.filter((x) => x !== c);
  const { title, version, branch, messages, updated_at } = ev;
  all.value = { ...all.value, [id]: ev.gone || ev.deleted_at ? others
    : [{ ...c, title, version, branch, messages, updated_at }, ...others].sort((a, b) => b.updated_at - a.updated_at) };
  return true;
}

// keep puts an agent's new state where it is shown.
export function keep(c) {
  if (c.agent_of) all.value = { ...all.value, [c.agent_of.id]: agentsOf(c.agent_of.id).map((x) => (x.id === c.id ? c : x)) };
}
