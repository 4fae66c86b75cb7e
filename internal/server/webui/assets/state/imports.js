// Files that come in: how much of one is sent, and what came of it.
import { signal } from '../vendor/signals-core.mjs';
import { ApiError, api, door, query } from './api.js';
import { refresh } from './conversations.js';
import * as projects from './projects.js';
import { lang } from './words.js';

// job is the import that is shown: {name, size, sent, state, result, fault}. Its state goes from
// sending to reading (everything is sent) to done or failed.
export const job = signal(null);
export const waiting = signal([]); // files that come after it

let request = null;

// upload sends a file and returns the server's result. The client's request, which fetch makes, does
// not say how much of it was sent.
function upload({ file, project, copy }) {
  return new Promise((resolve, reject) => {
    const x = (request = new XMLHttpRequest());
    x.open('POST', '/api/import' + query({ project, as_copy: copy, name: file.name }));
    x.setRequestHeader('Content-Type', 'application/octet-stream');
    x.setRequestHeader('Accept-Language', lang.value);
    x.upload.onprogress = (e) => set({ sent: e.loaded });
    x.upload.onload = () => set({ sent: file.size, state: 'reading' });
    x.onerror = () => reject(new TypeError('offline'));
    x.onabort = () => reject(new DOMException('stopped', 'AbortError'));
    x.onload = () => {
      let body = null;
      try { body = JSON.parse(x.responseText); } catch { /* not our JSON */ }
      if (x.status < 400 && body) { resolve(body); return; }
      if (x.status === 401) door.shut();
      reject(ApiError.of(x, x.responseText));
    };
    x.send(file);
  });
}

const set = (fields) => { if (job.value) job.value = { ...job.value, ...fields }; };

// bring imports files one after another, into a project or where they say themselves.
export const bring = (files, project = null) => work(Array.from(files).map((file) => ({ file, project })));

// copy brings the file of a job that came to nothing in again, with ids of its own.
export const copy = (j) => work([{ file: j.file, project: null, copy: true }]);

async function work(some) {
  waiting.value = [...waiting.value, ...some];
  if (request) return;
  for (let next = waiting.value[0]; next; next = waiting.value[0]) {
    waiting.value = waiting.value.slice(1);
    job.value = { name: next.file.name, size: next.file.size, sent: 0, state: 'sending', result: null, fault: null, file: next.file, before: job.value };
    try {
      set({ result: await upload(next), state: 'done' });
    } catch (err) {
      if (err.name === 'AbortError') job.value = null;
      else set({ fault: err, state: 'failed' });
    }
    request = null;
    await refresh();
    projects.refresh();
  }
}

// stop breaks off what is being sent; the server keeps what it has already.
export function stop() {
  waiting.value = [];
  if (request) request.abort();
}

export function close() { if (!request) job.value = null; }

// jobs are the import that is shown and those before it, oldest first.
export const jobs = (x = job.value) => (x ? [...jobs(x.before), x] : []);

// unfinished says whether the newest message of a conversation has no answer, or was cut off.
export async function unfinished(id) {
  try {
    const page = await api.listMessages(id, { limit: 1 });
    const last = page.messages[page.messages.length - 1];
    return Boolean(last && (last.role === 'user' || last.role === 'tool' || (last.status && last.status !== 'complete')));
  } catch { return false; }
}

// came counts what an import brought: conversations that are new, that grew, that were there
// already; messages; and lines that were skipped.
export function came(r) {
  const of = (yes) => r.conversations.filter(yes).length;
  return {
    created: of((c) => c.created),
    grown: of((c) => !c.created && c.messages > 0),
    known: of((c) => !c.created && c.messages === 0),
    messages: r.conversations.reduce((n, c) => n + c.messages, 0),
    skipped: r.skipped.length + (r.more_skipped || 0),
  };
}
