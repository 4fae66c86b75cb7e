// What is sent when the answer that is being written ends: messages in the order in which they
// were written, one a turn. After an answer that failed or was stopped they wait for a hand.
import { effect, signal, untracked } from '../vendor/signals-core.mjs';
import { newKey } from './api.js';
import { message } from './attach.js';
import * as kept from './kept.js';
import * as thread from './thread.js';
import * as turn from './turn.js';
import { t } from './words.js';

export const rows = signal([]); // {key, text, files, why}; why says what kept it from being sent

let of = null; // whose they are

export function show(id, list) {
  of = id;
  rows.value = list || [];
  remembered(rows.value, true);
}

// push adds one at the end, and returns its key.
export function push(entry, why = '') {
  const row = { key: newKey(), ...entry, why };
  rows.value = [...rows.value, row];
  return row.key;
}

// take takes one out, and returns it.
export function take(key) {
  const row = rows.value.find((r) => r.key === key);
  rows.value = rows.value.filter((r) => r.key !== key);
  return row;
}

const away = new Map(); // by conversation, the message that is on its way and that no server has yet

// sends remembers a message that is on its way until the function that it returns is called: a
// page that is closed meanwhile has it when it is opened again.
export function sends(id, row) {
  away.set(id, row);
  rows.value = [...rows.value];
  return () => {
    if (away.get(id) !== row) return;
    away.delete(id);
    rows.value = [...rows.value];
  };
}

// all are the messages that a conversation's page would have again: the one on its way is first.
export const all = (id) => [...(away.has(id) ? [away.get(id)] : []), ...rows.value];

const saved = new Set(); // keys of those that the browser remembers

// remembered says which are remembered, and whether.
export const remembered = (list, yes) => list.forEach((r) => (yes ? saved.add(r.key) : saved.delete(r.key)));

// gone says that another tab took it out or sent it.
const gone = (id, row) => saved.has(row.key) && !((kept.stored(id) || {}).queue || []).some((r) => r.key === row.key);

// send sends one now. Its key sends it once, whichever tab does.
export async function send(key, again = true) {
  const id = of;
  const row = rows.value.find((r) => r.key === key);
  if (!row || turn.running.value) return;
  if (gone(id, row)) { take(key); return; }
  const at = rows.value.indexOf(row);
  take(key);
  let fault = null;
  const over = sends(id, row);
  const taken = await turn.ask(id, message(row.text, row.files), { key: row.key, failed: (err) => { fault = err; }, taken: over });
  over();
  if (taken || of !== id) return;
  const why = fault ? (fault instanceof TypeError ? t('offlineNet') : fault.message) : '';
  rows.value = [...rows.value.slice(0, at), { ...row, why }, ...rows.value.slice(at)];
  if (fault && fault.status === 409) wait(id, key, again);
}

// wait is for a message that another tab's turn kept from being sent: it goes when that turn ends.
// A turn that ended before it could be followed says nothing more: the message is sent now, once.
export async function wait(id, key, again = true) {
  const runs = await turn.join(id);
  if (!runs && again && of === id) send(key, false);
}

// begin sends the first one whenever an answer ended well.
export function begin() {
  return effect(() => {
    const over = turn.over.value;
    untracked(() => {
      const c = thread.conversation.value;
      if (!over || !over.well || !c || over.conversation !== of || c.id !== of || !rows.value.length) return;
      queueMicrotask(() => { if (rows.value.length) send(rows.value[0].key); });
    });
  });
}
