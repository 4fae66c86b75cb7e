// The running turn: sends a message, reads its events as they come, attaches again when the
// connection drops, and stops it.
import { signal } from '../vendor/signals-core.mjs';
import { ApiError, convo, get, post, query, send } from './api.js';
import { frames } from './frames.js';
import * as leftout from './leftout.js';
import { complain, say } from './notices.js';
import { after, blank } from './step.js';
import { stopped } from './conversations.js';
import * as thread from './thread.js';
import { noted, wanted } from './web.js';
import { t } from './words.js';
import { zone } from './zone.js';

const TRIES = 6; // to attach again, with growing pauses

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

export const newKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, '0')).join('');

// ask sends a message, a text or a list of parts, or without one has the newest answered; it returns false when the
// server did not take it, for the reason that failed is given. A key makes it the same message as before. taken is
// called once the server has it, lost where it is left while the server does not respond.
export async function ask(id, message, { key = newKey(), failed = complain, taken: has = () => {}, lost = () => {} } = {}) {
  leave();
  const at = { conversation: id, turn: null, last: 0, tries: 0, over: false, failed, has };
  asked.value = message === undefined ? null : { parts: typeof message === 'string' ? [{ type: 'text', text: message }] : message, at: Date.now() };
  const headers = { 'Idempotency-Key': key }; // so that sending again cannot say it twice
  searching.value = wanted();
  at.without = leftout.list(id);
  const body = { message, web_search: searching.value || undefined, tz: zone(), without: at.without };
  const begin = (signal) => send('POST', convo(id, '/chat?html=1'), { body, headers, signal });
  const taken = await follow(at, begin);
  if (taken && !at.turn && !at.over && at.tries > 0) lost();
  else if (taken) has();
  if (!taken && !at.turn && reader === null) asked.value = null;
  return taken || at.turn !== null;
}

// attach reads a turn that runs already.
export function attach(id, turn) {
  leave();
  latest = turn;
  return follow({ conversation: id, turn, last: 0, over: false }, null);
}

// join attaches to the turn that runs in a conversation. It returns false if none does.
export async function join(id) {
  try {
    const page = await get(convo(id, '/messages?limit=1'));
    if (page.running && !running.value) await attach(id, page.running);
    return Boolean(page.running || running.value);
  } catch (err) { complain(err); return true; }
}

const events = (at, signal) => send('GET', convo(at.conversation, `/turns/${at.turn}/events`) + query({ after: at.last, html: 1 }), { signal });

// follow reads events until the turn is over, connecting again as often as it takes.
async function follow(at, begin) {
  const mine = (reader = new AbortController());
  running.value = { conversation: at.conversation, turn: at.turn };
  let tries = 0;
  let fault = null;
  while (!at.over && tries <= TRIES) {
    at.tries = tries;
    if (tries > 0) {
      shaky.value = true;
      await new Promise((r) => setTimeout(r, Math.min(5000, 250 * 2 ** tries)));
      if (mine.signal.aborted) return true;
    }
    const before = at.last;
    try {
      const res = await (at.turn ? events(at, mine.signal) : begin(mine.signal));
      for await (const f of frames(res.body)) {
        shaky.value = false;
        if (f.data === '[DONE]') { at.over = true; break; }
        await take(at, f);
        if (mine.signal.aborted) return true;
      }
    } catch (err) {
      if (mine.signal.aborted) return true;
      fault = err;
      if (err instanceof ApiError && err.status < 500) break;
    }
    tries = at.last > before ? 1 : tries + 1;
  }
  shaky.value = false;
  if (!at.over && fault) (at.turn || !at.failed ? complain : at.failed)(fault);
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

// take handles one event. Stored messages are read from the store: it has the last word.
async function take(at, frame) {
  const ev = JSON.parse(frame.data);
  if (frame.id) {
    const n = Number(frame.id);
    if (n <= at.last) return;
    at.last = n;
  }
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
      await thread.catchUp(ev.seq);
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
      await thread.catchUp(ev.seq);
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
  try { await post(convo(r.conversation, `/turns/${r.turn}/cancel`)); } catch (err) { complain(err); }
}
