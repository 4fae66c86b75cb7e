import { conversation, is, messages, same, serve, stream, test, when } from './check.js';
import { list, refresh } from '/assets/state/conversations.js';
import { manifest } from '/assets/state/context.js';
import * as feed from '/assets/state/feed.js';
import * as thread from '/assets/state/thread.js';
import * as turn from '/assets/state/turn.js';

const routes = {
  'GET /api/conversations': ({ query }) => (query.includes('pinned') ? { conversations: [], next: null } : { conversations: [conversation('a', { version: 1, updated_at: 10 }), conversation('b', { version: 1, updated_at: 9 })], next: null }),
  'GET /api/conversations/a': () => conversation('a', { version: 1, branch: 'b1', messages: 2 }),
  'GET /api/conversations/a/messages': () => ({ messages: messages(1, 2), next: null, turns: [] }),
  'GET /api/conversations/a/context': { conversation_id: 'a', excluded: [], tokens: 1, budget: 100 },
  'GET /api/conversations/a/receipts': { receipts: [] },
  'GET /api/conversations/a/branches': { branches: [] },
};
const asked = serve(routes);
const count = (at) => asked.filter((r) => r.at === at && !r.query.includes('agent_of') && !r.query.includes('pinned')).length;
const change = (id, fields) => ({ type: 'conversation', conversation_id: id, project: 'default', title: `The ${id}`, version: 2, branch: 'b1', messages: 2, updated_at: 20, ...fields });

test('a change of a listed conversation moves it up without a request', async () => {
  await refresh();
  await feed.take(change('b', { title: 'Renamed elsewhere' }));
  same([list.value.map((c) => c.title), count('GET /api/conversations')], [['Renamed elsewhere', 'The a'], 1]);
});

test('one that is not listed is looked up', async () => {
  await feed.take(change('c'));
  same(count('GET /api/conversations'), 2);
});

test('what goes to the trash or is purged leaves the list', async () => {
  await feed.take(change('b', { type: 'trash', deleted_at: 5 }));
  same(list.value.map((c) => c.id), ['a']);
  await feed.take({ type: 'trash', conversation_id: 'a', project: 'default', gone: true });
  same([list.value, count('GET /api/conversations')], [[], 2]);
  await refresh();
});

test('what others say in the open conversation is brought in', async () => {
  await thread.open('a', 0);
  routes['GET /api/conversations/a/messages'] = () => ({ messages: messages(2, 4), next: null, turns: [] });
  await feed.take(change('a', { type: 'message', first_seq: 3, last_seq: 4, turn_id: 't0' }));
  same(thread.messages.value.map((m) => m.seq), [1, 2, 3, 4]);
});

test('a turn that begins elsewhere is read here as it runs', async () => {
  routes['GET /api/conversations/a/turns/t1/events'] = () => stream([[1, { type: 'turn', turn_id: 't1', seq: 4 }], [2, { type: 'done', status: 'complete' }]]);
  await feed.take(change('a', { type: 'turn', turn_id: 't1', state: 'open' }));
  await when(() => turn.ended.value === 1, 'the end of the turn');
  const before = asked.length;
  await feed.take(change('a', { type: 'turn', turn_id: 't1', state: 'complete', version: 2 }));
  same(asked.length, before, 'a turn that was read is not read again:');
});

test('a compaction elsewhere shows in the context', async () => {
  manifest.value = null;
  await feed.take(change('a', { type: 'compaction', ref: 'history:x' }));
  await when(() => manifest.value, 'the context');
});

test('another version that was chosen elsewhere is shown', async () => {
  routes['GET /api/conversations/a'] = () => conversation('a', { version: 3, branch: 'b2', messages: 1 });
  routes['GET /api/conversations/a/messages'] = () => ({ messages: messages(1, 1), next: null, turns: [] });
  await feed.take(change('a', { branch: 'b2', version: 3 }));
  same([thread.conversation.value.branch, thread.messages.value.length], ['b2', 1]);
});

test('after a reset everything shown is read again', async () => {
  const before = [count('GET /api/conversations'), count('GET /api/conversations/a/context')];
  await feed.take({ type: 'reset' });
  same([count('GET /api/conversations') - before[0], count('GET /api/conversations/a/context') - before[1]], [1, 1]);
});

test('a connection that breaks is made again from where it was', async () => {
  let rounds = 0;
  routes['GET /api/events'] = () => {
    rounds++;
    if (rounds === 1) return stream([[7, change('a', { branch: 'b2', version: 3 })]], true);
    feed.stop();
    return stream([], true);
  };
  await feed.follow();
  same(asked.filter((r) => r.at === 'GET /api/events').map((r) => r.query), ['', 'after=7']);
});

test('a server that wants a key is not asked again', async () => {
  let rounds = 0;
  routes['GET /api/events'] = () => { rounds++; return Response.json({ error: { code: 'refused', message: 'a key' } }, { status: 401 }); };
  await feed.follow();
  same(rounds, 1);
});

test('the page is read also where the connection fails, and once', async () => {
  let read = 0;
  await feed.follow(false, () => { read++; });
  same(read, 1);
});

test('a message that comes while its conversation is opened is shown', async () => {
  thread.close();
  let answer;
  routes['GET /api/conversations/a/messages'] = () => new Promise((resolve) => { answer = () => resolve(Response.json({ messages: messages(1, 2), next: null, turns: [] })); });
  const opening = thread.open('a', 0);
  await when(() => answer, 'the request for messages');
  const taken = feed.take(change('a', { type: 'message', branch: 'b2', version: 3, first_seq: 3, last_seq: 3, turn_id: 't5' }));
  routes['GET /api/conversations/a/messages'] = () => ({ messages: messages(2, 3), next: null, turns: [] });
  answer();
  await opening;
  await taken;
  same(thread.messages.value.map((m) => m.seq), [1, 2, 3]);
});

test('a message from before the connection, that came after its conversation was read, is shown', async () => {
  await when(() => !turn.running.value, 'no turn');
  routes['GET /api/conversations/a/messages'] = () => ({ messages: messages(3, 4), next: null, turns: [] });
  routes['GET /api/events'] = () => new Response(new TransformStream().readable);
  feed.follow(false, () => {});
  await when(() => thread.messages.value.length === 4, 'the message');
  feed.stop();
});
