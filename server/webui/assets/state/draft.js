// The message that is being written: one draft a conversation, or a message of yours that is
// edited; and how it is sent.
import { signal } from '../vendor/signals-core.mjs';
import { convo, post } from './api.js';
import { before } from './branches.js';
import { attempt, hush } from './notices.js';
import { arrive } from './place.js';
import * as thread from './thread.js';
import * as turn from './turn.js';

export const text = signal('');
export const editing = signal(null); // the message that is edited
export const starting = signal(false); // a send is on its way to its turn

const drafts = new Map(); // what was begun in each conversation
let shown = null; // the conversation whose draft is in text

export const here = () => (thread.conversation.value ? thread.conversation.value.id : 'new');

// show puts the draft of a conversation in place of the one before, which is kept.
export function show(id) {
  if (shown !== null && shown !== id) {
    if (text.value) drafts.set(shown, text.value);
    else drafts.delete(shown);
    text.value = drafts.get(id) || '';
  }
  shown = id;
  editing.value = null;
}

export function edit(m) {
  editing.value = m;
  text.value = m.parts.filter((p) => p.type === 'text').map((p) => p.text).join('\n');
}

export function cancelEdit() {
  editing.value = null;
  text.value = '';
}

// ready finds or makes the conversation that the draft is sent to, at its end.
async function ready() {
  if (!thread.conversation.value) {
    const c = await attempt(() => post('/api/conversations'));
    if (!c) return null;
    thread.adopt(c);
    shown = c.id;
    arrive(c.id);
    return c;
  }
  const c = thread.conversation.value;
  if (editing.value) {
    const edited = editing.value;
    editing.value = null;
    if (!(await before(edited))) return null;
  } else if (thread.newer.value) await thread.toEnd();
  return c;
}

// submit sends the draft; sent is called once it is on its way.
export async function submit(sent) {
  const message = text.value;
  if (!message.trim() || turn.running.value || starting.value || thread.opening.value) return;
  starting.value = true;
  hush();
  let c;
  try { c = await ready(); } finally { starting.value = false; }
  if (!c) return;
  text.value = '';
  drafts.delete(c.id);
  sent();
  const taken = await turn.ask(c.id, message);
  if (taken || here() !== c.id) return;
  if (!text.value) text.value = message; // nothing was stored: it is still the writer's
  turn.join(c.id);
}
