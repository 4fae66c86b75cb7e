// What others do meanwhile: the changes of all conversations, as the server tells them, in
// this tab's list and in the conversation that is open.
import { api } from './api.js';
import * as branches from './branches.js';
import * as context from './context.js';
import * as conversations from './conversations.js';
import { failed, works } from './line.js';
import * as receipts from './receipts.js';
import * as thread from './thread.js';
import * as turn from './turn.js';

const LONGEST = 15000; // ms before the connection is made again
const PATIENCE = 500; // ms that the page waits for the first connection before it is read without one

let reader = null;
let stream = null; // the changes that are followed, or were last

// follow reads changes until stop is called or the server wants a key; missed says that
// there may have been some since the page was read. read, if there is one, reads the page: what
// is stored before the connection stands is read, and what is stored after it is told. Where the
// connection fails or keeps the page waiting, read is called without it.
export async function follow(missed = false, read = null) {
  stop();
  const mine = (reader = new AbortController());
  const begin = (follows) => {
    clearTimeout(late);
    if (!read || mine.signal.aborted) return;
    const first = read;
    read = null;
    missed ||= !follows;
    first();
    if (follows) readOn();
  };
  const late = read && setTimeout(begin, PATIENCE, false);
  const stands = (failures) => {
    works();
    if (read) begin(true);
    else if ((failures > 0 || missed) && changes.last === null) again(); // nobody knows what was missed
  };
  const lost = (err) => {
    begin(false);
    failed(err);
  };
  const changes = api.events({ after: stream && stream.last, signal: mine.signal, tries: Infinity, longestPause: LONGEST, onOpen: stands, onLost: lost });
  stream = changes;
  try {
    for await (const ev of changes) {
      try { await take(ev); } catch (err) { failed(err); }
      if (mine.signal.aborted) return;
    }
  } catch (err) {
    if (!mine.signal.aborted) lost(err);
  }
}

export function stop() {
  if (reader) reader.abort();
  reader = null;
}

// again reads everything that is shown: what was missed is not known.
async function again() {
  await conversations.refresh();
  const c = thread.conversation.value;
  if (!c) return;
  await thread.reread();
  await readOn();
  context.refresh(c.id);
  receipts.refresh(c.id);
  branches.refresh(c.id);
}

// opened waits until the conversation that is being opened is read.
const opened = () => new Promise((done) => {
  const end = thread.opening.subscribe((opening) => { if (!opening) { done(); queueMicrotask(() => end()); } });
});

// readOn brings what the open conversation got since it was read: messages, and a turn that runs.
async function readOn() {
  await opened();
  const c = thread.conversation.value;
  if (!c) return;
  if (!turn.running.value) await catchUp();
  if (!turn.running.value) await turn.join(c.id);
}

const catchUp = (seq) => thread.catchUp(seq).catch(() => {}); // the next change brings it

// take puts one change where it is shown.
export async function take(ev) {
  if (!ev.conversation_id && ev.type !== 'reset') return;
  if (ev.type === 'reset') { await again(); return; }
  if (!conversations.told(ev)) await conversations.refresh();
  await opened(); // what is being read may have been read before the change
  const c = thread.conversation.value;
  if (!c || c.id !== ev.conversation_id || ev.gone) return;
  if (ev.branch && ev.branch !== c.branch && !turn.running.value) { // somebody went back to another version
    const fresh = await api.getConversation(c.id).catch(() => null);
    if (fresh && fresh.branch !== c.branch && thread.conversation.value === c && !turn.running.value) await thread.renew(fresh);
    branches.refresh(c.id);
    context.refresh(c.id);
    receipts.refresh(c.id);
    return;
  }
  if ((ev.type === 'conversation' || ev.type === 'trash') && ev.version > c.version) await thread.reread();
  if (ev.type === 'compaction') { context.refresh(c.id); receipts.refresh(c.id); }
  if (turn.running.value || turn.known(ev.turn_id)) return; // its own stream tells more
  if (ev.type === 'turn' && ev.state === 'open') { turn.attach(c.id, ev.turn_id); return; }
  if (ev.type === 'message' || ev.type === 'turn') {
    await catchUp(ev.type === 'message' ? ev.last_seq : 0);
    context.refresh(c.id);
  }
}
