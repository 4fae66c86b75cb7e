// What follows from what: a place opens its conversation, a turn that runs there is read on,
// and what a turn changes is read again when it ends.
import { effect, untracked } from '../vendor/signals-core.mjs';
import * as branches from './branches.js';
import * as context from './context.js';
import { refresh } from './conversations.js';
import { hush } from './notices.js';
import { narrow, toggleSidebar } from './panels.js';
import { place } from './place.js';
import * as thread from './thread.js';
import * as turn from './turn.js';

const AHEAD = 1500; // ms in which the server has usually compacted ahead of the next request

// move shows the conversation at a place.
async function move({ id, seq, arrived }) {
  if (arrived) return;
  hush();
  if (narrow()) toggleSidebar(false);
  const c = thread.conversation.value;
  const r = turn.running.value;
  const stays = c && r && c.id === id && r.conversation === id;
  if (!stays) turn.leave();
  if (!id) { thread.close(); return; }
  const opened = await thread.open(id, seq);
  if (opened && opened.running && !stays) turn.attach(opened.id, opened.running);
}

// recheck reads a context again that was near its budget: it may have been compacted since.
function recheck(id) {
  const m = context.manifest.value;
  const c = thread.conversation.value;
  if (m && c && c.id === id && m.conversation_id === id && m.tokens > 0.6 * m.budget && !turn.running.value) context.refresh(id);
}

let read = null; // the conversation and the count of turns that the context was last read for

function readContext() {
  const id = thread.conversation.value && thread.conversation.value.id;
  const n = turn.ended.value;
  const key = `${id} ${n}`;
  if (key === read) return;
  const after = read !== null && n > 0 && read.split(' ')[0] === String(id);
  read = key;
  untracked(() => {
    context.refresh(id);
    branches.refresh(id);
    if (after) { thread.reread(); refresh(); setTimeout(recheck, AHEAD, id); }
  });
}

// start ties the nouns of the page together, once.
export function start() {
  place.subscribe((to) => { untracked(() => move(to)); });
  effect(readContext);
  // A turn that begins moves its conversation to the top of the list, and may give it a title.
  effect(() => { if (turn.begun.value) untracked(() => { thread.reread(); refresh(); }); });
  refresh();
}
