import { conversation, messages, same, serve, stream, test, when } from './check.js';
import { manifest } from '/assets/state/context.js';
import { list, loaded } from '/assets/state/conversations.js';
import { begin, sidebarOpen, toggleSidebar } from '/assets/state/panels.js';
import { arrive, go } from '/assets/state/place.js';
import * as thread from '/assets/state/thread.js';
import * as turn from '/assets/state/turn.js';
import { start } from '/assets/state/visit.js';

let running = null;
let made = []; // conversations that another makes
let connect = null; // answers what the page follows changes by
const routes = { 'GET /api/events': () => new Promise((resolve) => { connect = () => resolve(new Response(new TransformStream().readable)); }) };
for (const id of ['a', 'b']) {
  routes[`GET /api/conversations/${id}`] = () => conversation(id, { messages: 2 });
  routes[`GET /api/conversations/${id}/messages`] = () => ({ messages: messages(1, 2), next: null, running });
  routes[`GET /api/conversations/${id}/context`] = { conversation_id: id, excluded: [], tokens: 1, budget: 100 };
  routes[`GET /api/conversations/${id}/receipts`] = { receipts: [] };
  routes[`GET /api/conversations/${id}/branches`] = { branches: [] };
}
routes['GET /api/conversations'] = () => ({ conversations: [...made, conversation('a'), conversation('b')], next: null });
const asked = serve(routes);
const count = (at) => asked.filter((r) => r.at === at).length;

// Changes are told from when the connection stands: nobody tells of what was made before.
test('a conversation that is made while the page begins to follow is in its list', async () => {
  begin(390);
  start();
  await new Promise((r) => setTimeout(r)); // whatever is asked for before has its answer
  made = [conversation('c')];
  connect();
  await when(() => loaded.value, 'the list');
  same(list.value.map((c) => c.id), ['c', 'a', 'b']);
});

test('a place opens its conversation, and its context is read', async () => {
  toggleSidebar(true);
  go('a', 2);
  await when(() => manifest.value && manifest.value.conversation_id === 'a', 'the context of a');
  same([thread.conversation.value.id, thread.target.value, sidebarOpen.value], ['a', { seq: 2 }, false]);
});

test('a turn that runs there is read on; when it ends, what it changed is read again', async () => {
  const open = new TransformStream();
  const writer = open.writable.getWriter();
  routes['GET /api/conversations/b/turns/t/events'] = () => new Response(open.readable);
  running = 't';
  go('b');
  await when(() => turn.running.value && turn.running.value.turn === 't', 'the running turn');
  await when(() => manifest.value && manifest.value.conversation_id === 'b', 'the context of b');
  const before = [count('GET /api/conversations/b/context'), count('GET /api/conversations')];
  const was = manifest.value;
  routes['GET /api/conversations/b/context'] = { conversation_id: 'b', excluded: [], tokens: 2, budget: 100 };
  writer.write(await stream([[1, { type: 'done' }]]).arrayBuffer().then((b) => new Uint8Array(b)));
  writer.close();
  await when(() => turn.ended.value === 1 && manifest.value !== was && manifest.value, 'the context after the turn');
  same([manifest.value.tokens, count('GET /api/conversations/b/context') - before[0], count('GET /api/conversations') - before[1]],
    [2, 1, 0]);
  running = null;
});

test('arriving opens nothing, and no place closes', () => {
  const before = asked.length;
  arrive('a');
  same([asked.length, thread.conversation.value.id], [before, 'b']);
  go(null);
  same(thread.conversation.value, null);
});
