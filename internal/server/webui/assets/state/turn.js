// The running turn: sends a message, reads its events as they come, and stops it.
import { signal } from '../vendor/signals-core.mjs';
import { ApiError, api, newKey } from './api.js';
import * as leftout from './leftout.js';
import { complain, say } from './notices.js';
import { after, blank } from './step.js';
import { stopped } from './conversations.js';
import * as thread from './thread.js';
import { noted, wanted } from './web.js';
import { t } from './words.js';
import { zone } from './zone.js';

export const running = signal(null); // {conversation, turn}; turn is null until the server named it
export const step = signal(null); // the step being written, as step.js has it
export const asked = signal(null); // the user's message until it is stored
export const compactions = signal([]); // receipts of this turn
export const compacting = signal(false); // the request waits for a compaction
export const searching = signal(false); // the web is to be searched, and nothing came yet
export const searches = signal([]); // of the web, for this turn
export const references = signal([]); // of the message, as its turn began
export const shaky = signal(false); // the connection was lost and is being made again
export const begun = signal(0); // grows with each beginning of a turn
export const ended = signal(0); // and with each end
export const stored = signal(0); // and with each message of a turn that was stored
export const over = signal(null); // the turn that ended last: {conversation, turn, well}

let reader = null; // the AbortController of what is being read

let latest = null; // the turn that was read last

// known says that a turn was read here.
export const known = (id) => Boolean(id) && id === latest;

const PACE = 16; // ms between two showings of the step: about a frame of a screen
let written = blank();
let showing = 0;

// show brings what was written to step, at once or after PACE with whatever comes until then.
function show(now) {
  if (now) {
    clearTimeout(showing);
    showing = 0;
    step.value = written;
  } else if (!showing) showing = setTimeout(() => { showing = 0; step.value = written; }, PACE);
}

function clear() {
  written = blank();
  clearTimeout(showing);
  showing = 0;
  step.value = null;
}

// leave stops reading; the turn itself goes on.
export function leave() {
  if (reader) reader.abort();
  reader = null;
  running.value = null;
  asked.value = null;
  compactions.value = [];
  compacting.value = false;
  searching.value = false;
  searches.value = [];
  references.value = [];
  shaky.value = false;
  clear();
}

// ask sends a message, a text or a list of parts, or without one has the newest answered; it returns false when the
// server did not take it, for the reason that failed is given. A key makes it the same message as before. taken is
// called once the server has it, lost where it is left while the server does not respond.
export async function ask(id, message, { key = newKey(), failed = complain, taken: has = () => {}, lost = () => {} } = {}) {
  leave();
  const at = { conversation: id, turn: null, tries: 0, over: false, failed, has };
  asked.value = message === undefined ? null : { parts: typeof message === 'string' ? [{ type: 'text', text: message }] : message, at: Date.now() };
  searching.value = wanted();
  at.without = leftout.list(id);
  const body = { message, web_search: searching.value || undefined, tz: zone(), without: at.without };
  const taken = await follow(at, (options) => api.chat(id, body, { html: true, idempotency_key: key, ...options }));
  if (taken && !at.turn && !at.over && at.tries > 0) lost();
  else if (taken) has();
  if (!taken && !at.turn && reader === null) asked.value = null;
  return taken || at.turn !== null;
}

// attach reads a turn that runs already.
export function attach(id, turn) {
  leave();
  latest = turn;
  return follow({ conversation: id, turn, over: false }, (options) => api.turnEvents(id, turn, { after: 0, html: true, ...options }));
}

// join attaches to the turn that runs in a conversation. It returns false if none does.
export async function join(id) {
  try {
    const page = await api.listMessages(id, { limit: 1 });
    if (page.running && !running.value) await attach(id, page.running);
    return Boolean(page.running || running.value);
  } catch (err) { complain(err); return true; }
}

// follow reads events until the turn is over; the client connects again as often as it takes.
async function follow(at, begin) {
  const mine = (reader = new AbortController());
  running.value = { conversation: at.conversation, turn: at.turn };
  let fault = null;
  const lost = (_, failures) => {
    at.tries = failures;
    shaky.value = true;
  };
  const stream = begin({ signal: mine.signal, onLost: lost });
  try {
    for await (const ev of stream) {
      shaky.value = false;
      await take(at, ev);
      if (mine.signal.aborted) return true;
    }
  } catch (err) {
    fault = err;
  }
  if (mine.signal.aborted) return true;
  at.over = stream.done;
  shaky.value = false;
  if (fault) (at.turn || !at.failed ? complain : at.failed)(fault);
  await finish(mine, at);
  return at.over;
}

async function finish(mine, at) {
  try { await thread.catchUp(); } catch (err) { if (!(err instanceof TypeError)) complain(err); } // without a server there is nothing to read
  if (mine.signal.aborted) return;
  reader = null;
  running.value = null;
  compactions.value = [];
  compacting.value = false;
  searching.value = false;
  searches.value = [];
  references.value = [];
  clear();
  if (asked.value && asked.value.seq) asked.value = null;
  stopped(at.conversation);
  if (at.turn) over.value = { conversation: at.conversation, turn: at.turn, well: at.well === true };
  ended.value++;
}

// catchUp reads what was stored; where the server does not respond, the end reads it.
async function catchUp(seq) {
  try { await thread.catchUp(seq); } catch (err) { if (err instanceof ApiError && err.status < 500) throw err; }
}

// take handles one event. Stored messages are read from the store: it has the last word.
async function take(at, ev) {
  if (ev.type !== 'compacting') compacting.value = false; // whatever comes next, the wait is over
  switch (ev.type) {
    case 'compacting':
      compacting.value = true;
      break;
    case 'turn':
      at.turn = latest = ev.turn_id;
      if (at.has) at.has();
      running.value = { conversation: at.conversation, turn: ev.turn_id };
      leftout.taken(at.conversation, at.without);
      await catchUp(ev.seq);
      asked.value = null;
      begun.value++;
      break;
    case 'delta': case 'block': case 'reasoning': case 'tool_call': case 'tool_result': case 'snapshot':
      searching.value = false;
      written = after(written, ev);
      show(ev.type === 'snapshot');
      break;
    case 'search':
      searching.value = false;
      searches.value = noted(searches.value, ev);
      break;
    case 'message':
      await catchUp(ev.seq);
      clear();
      stored.value++;
      break;
    case 'compaction':
      compactions.value = [...compactions.value, ev];
      break;
    case 'error': // it is shown at its place, which the end reads
      break;
    case 'done':
      at.well = ev.status === 'complete';
      if (ev.status === 'waiting') say(t('waiting'));
      break;
    case 'meta':
      references.value = ev.references || [];
      break;
    default: // usage and what is added later
  }
}

export async function stop() {
  const r = running.value;
  if (!r || !r.turn) return;
  try { await api.cancelTurn(r.conversation, r.turn); } catch (err) { complain(err); }
}
