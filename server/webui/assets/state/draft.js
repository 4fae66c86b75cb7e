// The message that is being written: one draft a conversation, or a message of yours that is
// edited; what is attached to it; and how it is sent.
import { signal } from '../vendor/signals-core.mjs';
import { post } from './api.js';
import * as attach from './attach.js';
import { before } from './branches.js';
import { project } from './conversations.js';
import { attempt, hush } from './notices.js';
import { arrive } from './place.js';
import { pictured, typed } from './reference.js';
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

// edit takes a message up again: what was typed and attached, not what the server read for it.
export function edit(m) {
  editing.value = m;
  text.value = typed(m.parts);
  attach.put(here(), attach.of(pictured(m.parts).attached));
}

export function cancelEdit() {
  editing.value = null;
  text.value = '';
  attach.empty(here());
}

// sendable says that there is something to send, and all of it is there.
export const sendable = () => {
  const id = here();
  return !attach.uploading(id) && (text.value.trim() !== '' || attach.ready(id).length > 0);
};

let making = null;

// home is the open conversation; where there is none, one is made for the draft.
function home() {
  if (thread.conversation.value) return thread.conversation.value;
  making ??= make().finally(() => { making = null; });
  return making;
}

async function make() {
  const c = await attempt(() => post('/api/conversations', project.value ? { project: project.value } : {}));
  if (!c || thread.conversation.value) return null; // another was opened meanwhile
  thread.adopt(c);
  shown = c.id;
  arrive(c.id);
  return c;
}

// add uploads files for the message.
export async function add(files) {
  const c = files.length ? await home() : null;
  if (c) await attach.add(c.id, files);
}

// ready finds or makes the conversation that the draft is sent to, at its end.
async function ready() {
  const known = thread.conversation.value;
  const c = await home();
  if (!c || !known) return c;
  if (editing.value) {
    const edited = editing.value;
    editing.value = null;
    if (!(await before(edited))) return null;
  } else if (thread.newer.value) await thread.toEnd();
  return c;
}

// submit sends the draft; sent is called once it is on its way.
export async function submit(sent) {
  if (!sendable() || turn.running.value || starting.value || thread.opening.value) return;
  const typing = text.value;
  starting.value = true;
  hush();
  let c;
  try { c = await ready(); } finally { starting.value = false; }
  if (!c) return;
  text.value = '';
  drafts.delete(c.id);
  const files = attach.empty(c.id);
  const parts = files.flatMap((a) => a.part || []);
  sent();
  const message = !parts.length ? typing : typing.trim() ? [{ type: 'text', text: typing }, ...parts] : parts;
  const taken = await turn.ask(c.id, message);
  if (taken || here() !== c.id) return;
  if (!text.value) text.value = typing; // nothing was stored: it is still the writer's
  if (!attach.attached(c.id).length) attach.put(c.id, files);
  turn.join(c.id);
}
