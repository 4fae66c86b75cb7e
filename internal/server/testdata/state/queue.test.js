import { conversation, messages, refusal, same, serve, stream, test, when } from './check.js';
import * as kept from '/assets/state/kept.js';
import * as memory from '/assets/state/memory.js';
import * as queue from '/assets/state/queue.js';
import * as thread from '/assets/state/thread.js';
import * as turn from '/assets/state/turn.js';

const log = { messages: messages(1, 2), next: null, running: null };
const at = 'POST /api/conversations/c/chat';
const ends = (status) => stream([[1, { type: 'turn', turn_id: status + Math.random(), seq: 1 }], [2, { type: 'done', status }]]);
const texts = () => queue.rows.value.map((r) => r.text);

test('they are sent one a turn, in their order, while answers end well', async () => {
  thread.adopt(conversation('c'));
  queue.show('c', []);
  queue.begin();
  const answers = ['complete', 'complete', 'failed'];
  const asked = serve({ [at]: () => ends(answers.shift()), 'GET /api/conversations/c/messages': log });
  for (const text of ['one', 'two', 'three']) queue.push({ text, files: [] });
  await turn.ask('c', 'zero');
  await when(() => turn.over.value && turn.over.value.well === false, 'the end of the third turn');
  same([asked.filter((r) => r.at === at).map((r) => r.body.message), texts()], [['zero', 'one', 'two'], ['three']], 'after a failure it waits:');
  const key = queue.rows.value[0].key;
  answers.push('complete');
  await queue.send(key);
  same([asked.filter((r) => r.at === at).pop().headers['Idempotency-Key'], texts()], [key, []]);
});

test('one that is not taken keeps its place, and says why', async () => {
  serve({ [at]: () => refusal(400, 'too long'), 'GET /api/conversations/c/messages': log });
  queue.push({ text: 'a', files: [] });
  queue.push({ text: 'b', files: [] });
  await queue.send(queue.rows.value[0].key);
  same(queue.rows.value.map((r) => [r.text, r.why]), [['a', 'too long'], ['b', '']]);
  queue.take(queue.rows.value[0].key);
  same(texts(), ['b']);
});

test('what another tab sent or took out is not sent again', async () => {
  const shelf = new Map();
  memory.use({ getItem: (k) => shelf.get(k) ?? null, setItem: (k, v) => shelf.set(k, v), removeItem: (k) => shelf.delete(k) });
  queue.show('c', [{ key: 'k', text: 'mine', files: [] }]);
  kept.write('c', null);
  const asked = serve({});
  await queue.send('k');
  same([asked.length, queue.rows.value], [0, []]);
  memory.use(null);
});

test('one that another tab’s turn kept back is sent when that turn has ended already, once', async () => {
  thread.adopt(conversation('d'));
  let refusals = 1;
  let asked = 0;
  serve({ 'POST /api/conversations/d/chat': () => { asked++; return refusals-- > 0 ? refusal(409, 'a turn is open') : ends('complete'); },
    'GET /api/conversations/d/messages': log });
  queue.show('d', []);
  await queue.send(queue.push({ text: 'mine', files: [] }));
  await when(() => [turn.running.value, texts(), asked].join() === ',,2', 'the message to be sent');
  refusals = 2;
  asked = 0;
  await queue.send(queue.push({ text: 'again', files: [] }));
  await when(() => [turn.running.value, texts(), asked].join() === ',again,2', 'the message to wait');
  await new Promise((r) => { setTimeout(r, 50); });
  same([asked, texts()], [2, ['again']]);
});
