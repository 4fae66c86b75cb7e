import { conversation, message, messages, same, serve, stream, test, when } from './check.js';
import * as context from '/assets/state/context.js';
import * as leftout from '/assets/state/leftout.js';
import * as memory from '/assets/state/memory.js';
import * as thread from '/assets/state/thread.js';
import * as turn from '/assets/state/turn.js';

const talk = [...messages(1, 3), { ...message(4, 'assistant'), parts: [{ type: 'tool_call', id: 'c', name: 'look', arguments: {} }] }, message(5, 'tool'), message(6, 'tool'), message(7)];

function fresh() {
  leftout.moved('c');
  thread.adopt(conversation('c'));
  thread.head.value = 7;
  thread.messages.value = talk;
}

test('what was chosen is the whole list of the next request, and is sent once', async () => {
  fresh();
  thread.without.value = [1];
  same([leftout.list('c'), leftout.all.value], [undefined, [1]]);
  leftout.leaveOut('c', 3);
  same([leftout.list('c'), leftout.asks.value], [[1, 3], true]);
  leftout.takeBack('c', 1);
  same(leftout.list('c'), [3]);
  const asked = serve({ 'GET /api/conversations/c/messages': { messages: talk, next: null, running: null, without: [3] },
    'GET /api/conversations/c/context': { conversation_id: 'c', excluded: [] }, 'POST /api/conversations/c/context': { conversation_id: 'c', excluded: [] },
    'POST /api/conversations/c/chat': () => stream([[1, { type: 'turn', turn_id: 't', seq: 7 }], [2, { type: 'done' }]]) });
  await turn.ask('c', undefined);
  same(asked.find((r) => r.at.endsWith('/chat')).body.without, [3]);
  same([leftout.list('c'), leftout.all.value], [undefined, [3]]);
});

test('a call goes with its results, both ways', () => {
  fresh();
  leftout.leaveOut('c', 5);
  same(leftout.all.value, [4, 5, 6]);
  leftout.takeBack('c', 4);
  same(leftout.list('c'), undefined);
});

test('nothing is there to be answered when the question is left out', () => {
  fresh();
  leftout.leaveOut('c', 7);
  same(leftout.asks.value, false);
  leftout.moved('c', 6);
  same([leftout.list('c'), leftout.asks.value], [undefined, true]);
});

test('a choice lives through a reload, and what is remembered may be anything', () => {
  const shelf = new Map();
  memory.use({ getItem: (k) => shelf.get(k) ?? null, setItem: (k, v) => shelf.set(k, v), removeItem: (k) => shelf.delete(k) });
  fresh();
  leftout.leaveOut('c', 2);
  leftout.begin();
  same(leftout.all.value, [2]);
  shelf.set('scrollback.leftout', '{"a":[{"id":1}]}');
  leftout.begin();
  same(leftout.list('c'), undefined);
});

test('the figures are those of a request without it', async () => {
  fresh();
  const asked = serve({ 'POST /api/conversations/c/context': { conversation_id: 'c', excluded: [{ first_seq: 2, last_seq: 2, reason: 'left_out', ref: 'history:1' }], mark: 1 } });
  leftout.leaveOut('c', 2);
  await when(() => context.manifest.value && context.manifest.value.mark === 1, 'the figures');
  same([asked[0].body, context.compacted.value], [{ without: [2] }, []]);
});
