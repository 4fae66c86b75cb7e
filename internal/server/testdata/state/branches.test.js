import { conversation, message, messages, same, serve, stream, test } from './check.js';
import * as branches from '/assets/state/branches.js';
import { list, loaded } from '/assets/state/conversations.js';
import { place } from '/assets/state/place.js';
import * as thread from '/assets/state/thread.js';

const all = [{ id: 'b1', parent: null, at_seq: 0, head_seq: 6, messages: 6 },
  { id: 'b2', parent: 'b1', at_seq: 4, head_seq: 5, messages: 1 },
  { id: 'b3', parent: 'b1', at_seq: 4, head_seq: 4, messages: 0 }, { id: 'b4', parent: 'b2', at_seq: 5, head_seq: 7, messages: 2 }];
const on = (branch, seq) => ({ ...message(seq), branch });

test('versions are the branches that have a message of their own there', async () => {
  serve({ 'GET /api/conversations/c/branches': { branches: all } });
  await branches.refresh('c');
  const names = (m) => { const v = branches.versions(m); return v && [v.list.map((b) => b.id), v.at]; };
  same([names(on('b1', 5)), names(on('b2', 5))], [[['b1', 'b2'], 0], [['b1', 'b2'], 1]], 'the message where they part:');
  same([names(on('b1', 4)), names(on('b1', 6)), names(on('b4', 6)), names(on('nowhere', 5))], [null, null, null, null],
    'other messages:');
  await branches.refresh(null);
  same(names(on('b1', 5)), null, 'with no conversation:');
});

test('branches that go on from each other are one', async () => {
  const joined = [{ id: 'b9', parent: null, joined: ['b5', 'b1'], at_seq: 0, head_seq: 9, messages: 9 },
    { id: 'b6', parent: 'b9', at_seq: 3, head_seq: 5, messages: 2 }];
  serve({ 'GET /api/conversations/c/branches': { branches: joined } });
  await branches.refresh('c');
  const names = (m) => { const v = branches.versions(m); return v && [v.list.map((b) => b.id), v.at]; };
  same([names(on('b1', 4)), names(on('b6', 4)), names(on('b5', 7)), names(on('b9', 9))],
    [[['b9', 'b6'], 0], [['b9', 'b6'], 1], null, null]);
  await branches.refresh(null);
});

const routes = (more) => ({ 'POST /api/conversations/c/rewind': conversation('c', { messages: 4 }),
  'GET /api/conversations/c/messages': { messages: messages(1, 4), next: null },
  'GET /api/conversations/c/branches': { branches: all }, ...more });

test('switching shows the conversation as it is on the other branch', async () => {
  thread.adopt(conversation('c', { messages: 6 }));
  const asked = serve(routes());
  same([await branches.switchTo(all[1]), asked[0].body, thread.newest()], [true, { branch: 'b2' }, 4]);
  await branches.before(on('b1', 5));
  same(asked.findLast((r) => r.at.endsWith('/rewind')).body, { seq: 4 });
  serve({});
  same(await branches.before(on('b1', 5)), false, 'refused:');
});

test('an answer is made again from its question', async () => {
  const asked = serve(routes({ 'POST /api/conversations/c/chat': stream([[1, { type: 'done' }]]) }));
  thread.messages.value = [message(1), message(2, 'assistant'), message(3), message(4, 'tool'), message(5, 'assistant')];
  await branches.regenerate(message(5, 'assistant'));
  same(asked.filter((r) => r.at.startsWith('POST')).map((r) => [r.at.split('/').pop(), r.body]), [['rewind', { seq: 3 }], ['chat', {}]]);
});

test('a fork is open, in the address and in the list, with a title of its own', async () => {
  thread.conversation.value = conversation('c', { title: 'copy of Tides' });
  loaded.value = true;
  const asked = serve(routes({ 'POST /api/conversations/c/fork': ({ body }) => conversation('f', { messages: body.seq }),
    'GET /api/conversations/f/messages': { messages: messages(1, 2), next: null },
    'GET /api/conversations/f/branches': { branches: [] } }));
  await branches.fork(message(2));
  same([thread.conversation.value.id, thread.newest(), place.value.id, place.value.arrived], ['f', 2, 'f', true]);
  same(asked.find((r) => r.at.endsWith('/fork')).body, { seq: 2, title: 'copy of Tides' });
  same(list.value.map((c) => c.id), ['f']);
});
