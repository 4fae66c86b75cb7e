// The message that is being written: one draft a conversation, or a message of yours that is
// edited; what is attached to it; and how it is sent. It lives through a reload.
import { effect, signal, untracked } from '../vendor/signals-core.mjs';
import { api, newKey } from './api.js';
import * as attach from './attach.js';
import { before } from './branches.js';
import { preview } from './context.js';
import { discard, project } from './conversations.js';
import { begin, fresh } from './fresh.js';
import * as kept from './kept.js';
import { hush } from './notices.js';
import { arrive } from './place.js';
import * as queue from './queue.js';
import { pictured, typed } from './reference.js';
import * as thread from './thread.js';
import * as turn from './turn.js';
import { wanted } from './web.js';
import { t } from './words.js';

export const text = signal('');
export const editing = signal(null); // the message that is edited
export const starting = signal(false); // a send is on its way to its turn
export const trouble = signal(null); // why the last send came to nothing: {text}; no text where nobody responded

const NEW = 'new';
const PAUSE = 300; // ms without a change before the draft is remembered

const shown = signal(null); // the conversation whose draft is in text
let aside = null; // the draft that an edit took the place of
let saving = 0;

export const here = () => (thread.conversation.value ? thread.conversation.value.id : NEW);

// save remembers what there is of the shown conversation.
export function save() {
  clearTimeout(saving);
  if (shown.value === null) return;
  const now = aside || { text: text.value, files: attach.keep(attach.attached(shown.value)) };
  const rows = queue.all(shown.value).map((r) => ({ ...r, files: attach.keep(r.files) }));
  const begins = shown.value === NEW ? fresh.value : {};
  const any = now.text.trim() || now.files.length || rows.length || Object.keys(begins).length;
  queue.remembered(rows, kept.write(shown.value, any ? { ...now, queue: rows, fresh: begins } : null));
}

// show puts the draft of a conversation in place of the one before, which is kept.
export function show(id) {
  if (shown.value === id) return;
  save();
  if (made.has(shown.value) && !kept.read(shown.value)) { discard(shown.value); made.delete(shown.value); }
  const early = shown.value === null ? text.value : ''; // written before anything was open
  shown.value = null;
  const entry = kept.read(id) || {};
  text.value = [entry.text, early].filter(Boolean).join('\n\n');
  if (!attach.attached(id).length) attach.put(id, attach.back(entry.files));
  queue.show(id, (entry.queue || []).map((r) => ({ ...r, files: attach.back(r.files) })));
  if (id === NEW) begin(entry.fresh || {});
  shown.value = id;
  aside = null;
  editing.value = null;
  trouble.value = null;
}

// What changes is remembered a moment later, a message that waits at once.
effect(() => {
  const all = [text.value, attach.attached(shown.value), fresh.value];
  clearTimeout(saving);
  if (all) saving = setTimeout(save, PAUSE);
});
effect(() => { if (queue.rows.value) untracked(save); });

// The figures of the next request follow it.
effect(() => {
  const id = shown.value;
  const message = editing.value ? '' : attach.message(text.value, attach.attached(id));
  preview(id, id !== NEW && id === here() && message.length && (typeof message !== 'string' || message.trim()) ? { message, web_search: wanted() || undefined } : null);
});

// edit takes a message up again: what was typed and attached, not what the server read for it.
export function edit(m) {
  aside ||= { text: text.value, files: attach.keep(attach.attached(here())) };
  editing.value = m;
  text.value = typed(m.parts);
  attach.put(here(), attach.of(pictured(m.parts).attached));
}

// cancelEdit leaves it as it was, and brings back what was being written before.
export function cancelEdit() {
  editing.value = null;
  text.value = aside ? aside.text : '';
  attach.put(here(), attach.back(aside && aside.files));
  aside = null;
}

// sendable says that there is something to send, and all of it is there.
export const sendable = () => {
  const id = here();
  return !attach.uploading(id) && (text.value.trim() !== '' || attach.ready(id).length > 0);
};

let making = null;
const made = new Map(); // by conversation that was made for a draft and in which nothing was said yet: what it began with

// home is the open conversation; where there is none, one is made for the draft.
function home() {
  if (thread.conversation.value) return thread.conversation.value;
  making ??= make().finally(() => { making = null; });
  return making;
}

async function make() {
  let fault = null;
  const c = await api.createConversation({ ...(project.value ? { project: project.value } : {}), ...fresh.value }).catch((err) => { fault = err; });
  if (fault) refused(fault);
  if (!c || thread.conversation.value) return null; // another was opened meanwhile
  thread.adopt(c);
  shown.value = c.id;
  made.set(c.id, fresh.value);
  fresh.value = {};
  kept.write(NEW, null);
  queue.show(c.id, []);
  attach.put(c.id, attach.empty(NEW));
  arrive(c.id);
  return c;
}

// add uploads files for the message.
export async function add(files) {
  const c = files.length ? await home() : null;
  if (c) await attach.add(c.id, files);
}

// paste puts a long text beside the message, and inline puts it back into it.
export async function paste(long) {
  const id = here();
  const { key } = attach.paste(id, long);
  if (id !== NEW) await attach.weigh(id, key);
}

export function inline(item) {
  attach.remove(here(), item.key);
  text.value = [text.value, item.part.text].filter(Boolean).join('\n\n');
}

// ready finds or makes the conversation that the draft is sent to, at its end.
async function ready() {
  const known = thread.conversation.value;
  const c = await home();
  if (!c || !known) return c;
  if (editing.value) {
    const edited = editing.value;
    editing.value = null;
    if (!(await before(edited))) {
      editing.value = edited;
      return null;
    }
  } else if (thread.newer.value) await thread.toEnd();
  return c;
}

function refused(err) { trouble.value = { text: err instanceof TypeError ? '' : err.message }; }

// clear takes what was written out of the composer, and returns it.
function clear(id) {
  const entry = { text: text.value, files: attach.empty(id) };
  text.value = aside ? aside.text : '';
  if (aside) attach.put(id, attach.back(aside.files));
  aside = null;
  return entry;
}

let again = null; // an Enter that came while a message was on its way

// submit sends the draft, or lets it wait for the answer that is being written; sent is called
// once it is on its way.
export async function submit(sent) {
  if (starting.value) { again = sent; return; }
  if (!sendable() || thread.opening.value || (turn.running.value && editing.value)) return;
  trouble.value = null;
  if (turn.running.value) { queue.push(clear(here())); return; }
  starting.value = true;
  hush();
  const said = text.value; // what stood there at Enter; what is typed meanwhile is the next message
  let c;
  try { c = await ready(); } finally { starting.value = false; }
  const waits = again;
  again = null;
  if (!c) return;
  const more = text.value.startsWith(said) ? text.value.slice(said.length).replace(/^\n/, '') : '';
  const entry = { ...clear(c.id), text: said };
  if (more) text.value = more;
  sent();
  let fault = null;
  const row = { key: newKey(), ...entry, why: '' };
  const over = queue.sends(c.id, row);
  const asking = turn.ask(c.id, attach.message(entry.text, entry.files), { key: row.key, failed: (err) => { fault = err; }, taken: over, lost: () => left(c.id, row) });
  if (waits && more) submit(waits); // an Enter that came too early
  const taken = await asking;
  over();
  if (taken) made.delete(c.id);
  else back(c.id, entry, fault);
}

// left is for a message whose conversation was left while nobody responded: it waits there.
function left(id, row) {
  const held = { ...row, why: t('offlineNet') };
  if (here() === id) { queue.rows.value = [held, ...queue.rows.value.filter((r) => r.key !== row.key)]; return; }
  const was = kept.read(id) || {};
  kept.write(id, { ...was, queue: [{ ...held, files: attach.keep(row.files) }, ...(was.queue || []).filter((r) => r.key !== row.key)] });
}

// back is for a message that nobody took: it is still the writer's. Where another tab was first,
// it waits for the answer there.
function back(id, entry, fault) {
  if (here() !== id) {
    const was = kept.read(id) || {};
    if (!was.text) kept.write(id, { ...was, text: entry.text, files: attach.keep(entry.files) });
    return;
  }
  if (fault && fault.status === 409) {
    queue.wait(id, queue.push(entry, fault.message));
    return;
  }
  if (!text.value) text.value = entry.text;
  if (!attach.attached(id).length) attach.put(id, entry.files);
  if (fault) refused(fault);
  if (fault instanceof TypeError) return;
  if (made.has(id) && !entry.files.length) unmake(id);
  else turn.join(id);
}

// unmake takes back a conversation whose first message was refused; what was written is the draft
// of a new one again.
function unmake(id) {
  begin(made.get(id));
  made.delete(id);
  kept.write(id, null);
  thread.close();
  shown.value = NEW;
  arrive(null);
  discard(id);
}

// reopen takes a message that waits back into the composer.
export function reopen(key) {
  const row = queue.take(key);
  if (!row) return;
  text.value = [row.text, text.value].filter(Boolean).join('\n\n');
  attach.put(here(), [...row.files, ...attach.attached(here())]);
}
