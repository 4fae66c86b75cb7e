// What follows from what: a place opens its conversation, a turn that runs there is read on,
// and what a turn changes in the context is read when it ends; the feed tells the rest.
import { effect, untracked } from '../vendor/signals-core.mjs';
import * as branches from './branches.js';
import * as context from './context.js';
import { list, pinned, refresh } from './conversations.js';
import * as feed from './feed.js';
import { learn } from './models.js';
import { hush } from './notices.js';
import { learnLimits } from './offered.js';
import { narrow, toggleSidebar } from './panels.js';
import { place } from './place.js';
import * as projects from './projects.js';
import * as queue from './queue.js';
import * as carried from './carried.js';
import * as receipts from './receipts.js';
import { locked } from './session.js';
import * as thread from './thread.js';
import * as turn from './turn.js';

// move shows the conversation at a place.
async function move({ id, seq, branch, arrived }) {
  if (arrived) return;
  hush();
  if (narrow()) toggleSidebar(false);
  const c = thread.conversation.value;
  const r = turn.running.value;
  const stays = c && r && c.id === id && r.conversation === id;
  if (!stays) turn.leave();
  if (!id) { thread.close(); return; }
  const opened = await thread.open(id, seq, branch);
  if (opened && opened.running && !stays) turn.attach(opened.id, opened.running);
}

let read = null; // the conversation and the count of turns that the context was last read for

function readContext() {
  const id = thread.conversation.value && thread.conversation.value.id;
  const n = turn.ended.value;
  const key = `${id} ${n}`;
  if (key === read) return;
  read = key;
  untracked(() => {
    context.refresh(id);
    receipts.refresh(id);
    branches.refresh(id);
  });
}

// start ties the nouns of the page together, once.
export function start() {
  let first = true;
  place.subscribe((to) => { if (!first && !locked.value) untracked(() => move(to)); first = false; });
  effect(readContext);
  carried.follow();
  effect(() => { if (turn.begun.value + turn.stored.value > 0) untracked(() => context.figures()); }); // they grow while it runs
  queue.begin();
  // Where a key is needed, everything begins with it, and begins again with another.
  effect(() => {
    if (locked.value) untracked(() => { feed.stop(); turn.leave(); thread.close(); list.value = []; pinned.value = []; projects.list.value = []; });
    else untracked(() => { feed.follow(false, () => { refresh(); projects.refresh(); }); move({ ...place.value, arrived: false }); learn(); learnLimits(); });
  });
}
