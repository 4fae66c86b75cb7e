import { same, serve, test, when } from './check.js';
import * as imports from '/assets/state/imports.js';

const came = { conversations: [{ id: 'i', created: true, messages: 3, total: 3 }, { id: 'j', created: false, messages: 4, total: 9 }, { id: 'k', created: false, messages: 0, total: 2 }],
  skipped: [{ line: 7, reason: 'not JSON' }], more_skipped: 1 };

// request stands in for the browser's; what it does with what is sent is answer's.
let answer = null;
const asked = [];
class Request {
  upload = {};

  status = 200;

  open(method, path) { this.at = `${method} ${path}`; }

  setRequestHeader() {}

  send(file) { asked.push(this.at); answer(this, file); }

  abort() { this.onabort(); }
}
globalThis.XMLHttpRequest = Request;
serve({ 'GET /api/conversations': { conversations: [], next: null }, 'GET /api/projects': { projects: [] } });

const file = (name) => new File(['0123456789'], name);
const over = (x, status, body) => { x.status = status; x.responseText = JSON.stringify(body); x.onload(); };

test('an import says how much is sent, then what came', async () => {
  const seen = [];
  answer = (x, f) => {
    x.upload.onprogress({ loaded: 4 });
    seen.push([imports.job.value.state, imports.job.value.sent, imports.job.value.size]);
    x.upload.onload();
    seen.push([imports.job.value.state, imports.job.value.sent]);
    over(x, 200, came);
    same(f.name, 'a.jsonl');
  };
  await imports.bring([file('a.jsonl')], 'harbour');
  same([seen, imports.job.value.state, asked], [[['sending', 4, 10], ['reading', 10]], 'done', ['POST /api/import?project=harbour&name=a.jsonl']]);
  same(imports.came(imports.job.value.result), { created: 1, grown: 1, known: 1, messages: 7, skipped: 2 });
  imports.close();
  same(imports.job.value, null);
});

test('files come one after another, and one that fails keeps none of the others back', async () => {
  asked.length = 0;
  answer = (x, f) => over(x, f.name === 'bad' ? 409 : 200, f.name === 'bad' ? { error: { code: 'conflict', message: 'both went on' } } : { conversations: [], skipped: [] });
  await imports.bring([file('one'), file('bad'), file('two')]);
  same(imports.jobs().map((j) => [j.name, j.state, j.fault && j.fault.message]), [['one', 'done', null], ['bad', 'failed', 'both went on'], ['two', 'done', null]]);
  same(asked, ['POST /api/import?name=one', 'POST /api/import?name=bad', 'POST /api/import?name=two']);
  await imports.copy(imports.jobs()[1]);
  same(asked[3], 'POST /api/import?as_copy=true&name=bad');
  imports.close();
});

test('what is broken off leaves nothing behind', async () => {
  answer = () => {};
  const done = imports.bring([file('long'), file('never')]);
  await when(() => imports.job.value && imports.job.value.name === 'long', 'the import');
  imports.close(); // it goes on behind
  same(imports.job.value.name, 'long');
  imports.stop();
  await done;
  same([imports.job.value, imports.waiting.value], [null, []]);
});

test('a conversation whose last message has no answer is not finished', async () => {
  const last = (m) => serve({ 'GET /api/conversations/i/messages': { messages: m ? [m] : [] } });
  const is = [];
  for (const m of [{ role: 'user', status: 'complete' }, { role: 'assistant', status: 'complete' }, { role: 'assistant', status: 'interrupted' }, null]) { last(m); is.push(await imports.unfinished('i')); }
  same(is, [true, false, true, false]);
});
