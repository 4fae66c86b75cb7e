import { conversation, message, messages, refusal, same, serve, stream, test } from './check.js';
import { attached, of, put } from '/assets/state/attach.js';
import * as draft from '/assets/state/draft.js';
import { banner } from '/assets/state/notices.js';
import { place } from '/assets/state/place.js';
import * as thread from '/assets/state/thread.js';

const chat = stream([[1, { type: 'turn', turn_id: 't', seq: 1 }], [2, { type: 'done' }]]);
const log = { messages: messages(1, 2), next: null, running: null };

test('each conversation has a draft of its own', () => {
  draft.show('a');
  draft.text.value = 'for a';
  draft.show('b');
  same(draft.text.value, '');
  draft.text.value = 'for b';
  draft.show('a');
  same(draft.text.value, 'for a');
  draft.text.value = '';
  draft.show('b');
  same(draft.text.value, 'for b');
  draft.show('a');
  same(draft.text.value, '');
});

test('the first message makes its conversation', async () => {
  thread.close();
  draft.show(draft.here());
  const asked = serve({ 'POST /api/conversations': conversation('n'), 'POST /api/conversations/n/chat': () => chat.clone(),
    'GET /api/conversations/n/messages': log });
  let sent = 0;
  draft.text.value = '  ';
  await draft.submit(() => { sent++; });
  same([asked.length, sent], [0, 0], 'an empty one:');
  draft.text.value = 'hello';
  await draft.submit(() => { sent++; });
  same([asked[1].body, sent, draft.text.value, draft.starting.value, place.value.id, place.value.arrived],
    [{ message: 'hello' }, 1, '', false, 'n', true]);
});

test('what was not taken is still the writer’s', async () => {
  serve({ 'POST /api/conversations/n/chat': () => refusal(400, 'too long'), 'GET /api/conversations/n/messages': log });
  draft.text.value = 'long';
  await draft.submit(() => {});
  same([draft.text.value, banner.value.text], ['long', 'too long']);
});

test('an edited message is asked again from before it', async () => {
  const m = { ...message(3), parts: [{ type: 'text', text: 'one' }, { type: 'text', text: 'read', reference: { mark: 'a.md' } },
    { type: 'image', artifact: 'ab', name: 'x.png' }, { type: 'text', text: 'two' }] };
  draft.edit(m);
  same([draft.text.value, draft.editing.value.seq], ['one\ntwo', 3]);
  draft.cancelEdit();
  same([draft.text.value, draft.editing.value], ['', null]);
  draft.edit(m);
  const asked = serve({ 'POST /api/conversations/n/rewind': conversation('n', { messages: 2 }), 'GET /api/conversations/n/messages': log,
    'GET /api/conversations/n/branches': { branches: [] }, 'POST /api/conversations/n/chat': () => chat.clone() });
  await draft.submit(() => {});
  same(asked.filter((r) => r.at.startsWith('POST')).map((r) => r.body), [{ seq: 2 },
    { message: [{ type: 'text', text: 'one\ntwo' }, { type: 'image', artifact: 'ab', name: 'x.png' }] }]);
  draft.edit(m);
  serve({});
  await draft.submit(() => {});
  same([draft.text.value, draft.starting.value], ['one\ntwo', false], 'a rewind that is refused:');
});

test('a file makes the conversation, keeps the draft and goes with the message', async () => {
  thread.close();
  draft.show(draft.here());
  draft.text.value = 'what is this?';
  const asked = serve({ 'POST /api/conversations': conversation('f'), 'POST /api/artifacts': { id: 'ab', media_type: 'image/png', size: 5 },
    'POST /api/conversations/f/chat': () => chat.clone(), 'GET /api/conversations/f/messages': log });
  await draft.add([]);
  same([asked.length, draft.here()], [0, 'new']);
  const both = [draft.add([Object.assign(new Blob(['x']), { name: 'a.png' })]), draft.add([Object.assign(new Blob(['y']), { name: 'b.png' })])];
  await Promise.all(both);
  draft.show(draft.here());
  same([draft.here(), draft.text.value, asked.filter((r) => r.at === 'POST /api/conversations').length, place.value.id], ['f', 'what is this?', 1, 'f']);
  await draft.submit(() => {});
  const image = (name) => ({ type: 'image', artifact: 'ab', name });
  same([asked.find((r) => r.at.endsWith('/chat')).body, attached('f')],
    [{ message: [{ type: 'text', text: 'what is this?' }, image('a.png'), image('b.png')] }, []]);
});

test('an image alone can be sent, and is still there if it was not taken', async () => {
  put('f', of([{ type: 'image', artifact: 'ab', name: 'a.png' }]));
  draft.text.value = '';
  same(draft.sendable(), true);
  const asked = serve({ 'POST /api/conversations/f/chat': () => refusal(400, 'no'), 'GET /api/conversations/f/messages': log });
  await draft.submit(() => {});
  same([asked[0].body, attached('f').length, draft.text.value], [{ message: [{ type: 'image', artifact: 'ab', name: 'a.png' }] }, 1, '']);
});
