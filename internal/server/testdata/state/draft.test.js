import { conversation, is, message, messages, refusal, same, serve, stream, test, when } from './check.js';
import { attached, of, put } from '/assets/state/attach.js';
import * as draft from '/assets/state/draft.js';
import { begin, fresh } from '/assets/state/fresh.js';
import * as memory from '/assets/state/memory.js';
import { banner } from '/assets/state/notices.js';
import { place } from '/assets/state/place.js';
import * as queue from '/assets/state/queue.js';
import * as thread from '/assets/state/thread.js';
import * as turn from '/assets/state/turn.js';

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

test('what stood there at Enter is sent; what is typed meanwhile is the next message', async () => {
  thread.close();
  draft.show(draft.here());
  let make = null;
  const asked = serve({ 'POST /api/conversations': () => new Promise((done) => { make = () => done(conversation('n')); }),
    'POST /api/conversations/n/chat': () => chat.clone(), 'GET /api/conversations/n/messages': log });
  draft.text.value = 'alpha';
  const going = draft.submit(() => {});
  await when(() => draft.starting.value, 'the conversation');
  draft.text.value = 'alpha\nbeta';
  await Promise.resolve();
  make();
  await going;
  const said = asked.filter((r) => r.at.endsWith('/chat')).map((r) => r.body.message);
  same([said, draft.text.value], [['alpha'], 'beta']);
  draft.text.value = '';
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
  const made = asked.find((r) => r.at === 'POST /api/conversations/n/chat');
  same([made.body, sent, draft.text.value, draft.starting.value, place.value.id, place.value.arrived],
    [{ message: 'hello' }, 1, '', false, 'n', true]);
});

test('what was not taken is still the writer’s', async () => {
  serve({ 'POST /api/conversations/n/chat': () => refusal(400, 'too long'), 'GET /api/conversations/n/messages': log });
  draft.text.value = 'long';
  await draft.submit(() => {});
  same([draft.text.value, draft.trouble.value, banner.value], ['long', { text: 'too long' }, null]);
});

test('nobody responding is no refusal', async () => {
  globalThis.fetch = async () => { throw new TypeError('network'); };
  thread.close();
  draft.show('new');
  draft.text.value = 'kept';
  await draft.submit(() => {});
  same([draft.text.value, draft.trouble.value, draft.starting.value], ['kept', { text: '' }, false]);
  draft.text.value = '';
  thread.adopt(conversation('n'));
  draft.show('n');
  same([draft.text.value, draft.trouble.value], ['long', null]);
});

test('an edited message is asked again from before it', async () => {
  const m = { ...message(3), parts: [{ type: 'text', text: 'one' }, { type: 'text', text: 'read', reference: { mark: 'a.md' } },
    { type: 'image', artifact: 'ab', name: 'x.png' }, { type: 'text', text: 'two' }] };
  draft.edit(m);
  same([draft.text.value, draft.editing.value.seq], ['one\ntwo', 3]);
  draft.cancelEdit();
  same([draft.text.value, draft.editing.value], ['long', null], 'what was being written is back:');
  draft.edit(m);
  const asked = serve({ 'POST /api/conversations/n/rewind': conversation('n', { messages: 2 }), 'GET /api/conversations/n/messages': log,
    'GET /api/conversations/n/branches': { branches: [] }, 'POST /api/conversations/n/chat': () => chat.clone() });
  await draft.submit(() => {});
  same(asked.filter((r) => r.at.startsWith('POST')).map((r) => r.body), [{ seq: 2 },
    { message: [{ type: 'text', text: 'one\ntwo' }, { type: 'image', artifact: 'ab', name: 'x.png' }] }]);
  draft.edit(m);
  serve({});
  await draft.submit(() => {});
  same([draft.text.value, draft.starting.value, draft.editing.value.seq], ['one\ntwo', false, 3], 'a rewind that is refused:');
  draft.cancelEdit();
  same(draft.text.value, 'long', 'after an edit:');
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

test('a draft lives through a reload, with its files, what waits and what it begins with', async () => {
  const shelf = new Map();
  memory.use({ getItem: (k) => shelf.get(k) ?? null, setItem: (k, v) => shelf.set(k, v), removeItem: (k) => shelf.delete(k) });
  thread.adopt(conversation('r'));
  draft.show('r');
  draft.text.value = 'half a thought';
  put('r', of([{ type: 'file', artifact: 'ab', name: 'a.csv', size: 7 }]));
  queue.push({ text: 'next', files: [] });
  draft.save();
  const [entry] = JSON.parse(shelf.get('scrollback.drafts'));
  same([entry.id, entry.text, entry.files.map((f) => [f.name, f.size, f.part.artifact]), entry.queue.map((q) => q.text)],
    ['r', 'half a thought', [['a.csv', 7, 'ab']], ['next']]);
  thread.close();
  draft.show('new');
  begin({ instructions: 'In Chinese.', model: '' });
  draft.save();
  same(JSON.parse(shelf.get('scrollback.drafts'))[0].fresh, { instructions: 'In Chinese.' });
  const asked = serve({ 'POST /api/conversations': conversation('i'), 'POST /api/conversations/i/chat': () => chat.clone(), 'GET /api/conversations/i/messages': log });
  draft.text.value = 'hello';
  await draft.submit(() => {});
  same([asked[0].body, fresh.value], [{ instructions: 'In Chinese.' }, {}]);
  draft.save();
  same(JSON.parse(shelf.get('scrollback.drafts')).map((e) => e.id).filter((id) => ['i', 'new'].includes(id)), [], 'what was sent is forgotten:');
  memory.use(null);
});

test('while an answer comes a message waits; where another tab was first it waits too', async () => {
  thread.adopt(conversation('q'));
  draft.show('q');
  turn.running.value = { conversation: 'q', turn: 't' };
  draft.text.value = 'and then?';
  const asked = serve({});
  await draft.submit(() => {});
  same([asked.filter((r) => r.at.endsWith('/chat')).length, queue.rows.value.map((r) => r.text), draft.text.value], [0, ['and then?'], '']);
  draft.text.value = 'more';
  draft.reopen(queue.rows.value[0].key);
  same([queue.rows.value, draft.text.value], [[], 'and then?\n\nmore']);
  turn.running.value = null;
  const open = new TransformStream();
  serve({ 'POST /api/conversations/q/chat': () => refusal(409, 'a turn is open'), 'GET /api/conversations/q/messages': { ...log, running: 't9' },
    'GET /api/conversations/q/turns/t9/events': () => new Response(open.readable) });
  await draft.submit(() => {});
  await when(() => turn.running.value && turn.running.value.turn === 't9', 'the turn of the other tab');
  same([queue.rows.value.map((r) => r.text), draft.text.value, draft.trouble.value], [['and then?\n\nmore'], '', null]);
  turn.leave();
});

test('where the answer of another tab ended before it could be read, the message is sent', async () => {
  thread.adopt(conversation('r'));
  draft.show('r');
  draft.text.value = 'mine';
  let tries = 0;
  serve({ 'POST /api/conversations/r/chat': () => (tries++ ? chat.clone() : refusal(409, 'a turn is open')), 'GET /api/conversations/r/messages': log });
  await draft.submit(() => {});
  await when(() => [turn.running.value, queue.rows.value.some((r) => r.text === 'mine'), tries].join() === ',false,2', 'the message to be sent');
});

test('a long text that is pasted stands beside the message, and can be put into it', async () => {
  thread.adopt(conversation('p'));
  draft.show('p');
  draft.text.value = 'What is this?';
  const asked = serve({ 'POST /api/conversations/p/context': { draft: 5192 }, 'POST /api/conversations/p/chat': () => chat.clone(), 'GET /api/conversations/p/messages': log });
  await draft.paste('x'.repeat(5000));
  const [item] = attached('p');
  same([item.name, item.size, item.tokens, asked[0].body.message], ['Pasted text', 5000, 5192, [{ type: 'text', text: 'x'.repeat(5000) }]]);
  draft.inline(item);
  is(draft.text.value === 'What is this?\n\n' + 'x'.repeat(5000) && attached('p').length === 0, 'it is in the message');
  draft.text.value = 'What is this?';
  await draft.paste('y');
  await draft.submit(() => {});
  same(asked.find((r) => r.at.endsWith('/chat')).body.message, [{ type: 'text', text: 'What is this?' }, { type: 'text', text: 'y' }]);
});

test('a message that is on its way while nobody responds is there when the page is opened again', async () => {
  const shelf = new Map();
  memory.use({ getItem: (k) => shelf.get(k) ?? null, setItem: (k, v) => shelf.set(k, v), removeItem: (k) => shelf.delete(k) });
  const stored = () => JSON.parse([...shelf].map(([, v]) => v).find((v) => v.includes('queue')) || '[]').find((e) => e.id === 'w');
  thread.adopt(conversation('w'));
  draft.show('w');
  let respond = null;
  const asked = serve({ 'POST /api/conversations/w/chat': () => new Promise((done) => { respond = () => done(chat.clone()); }), 'GET /api/conversations/w/messages': log });
  draft.text.value = 'on its way';
  const going = draft.submit(() => {});
  await when(() => turn.running.value, 'the request');
  for (let i = 0; !respond && i < 50; i++) await Promise.resolve();
  same([draft.text.value, stored().queue.map((r) => r.text), queue.rows.value], ['', ['on its way'], []]);
  same(stored().queue[0].key, asked.find((r) => r.at.endsWith('/chat')).headers['Idempotency-Key'], 'sent again it is the same message:');
  respond();
  await going;
  is(!stored() || stored().queue.length === 0, 'what was taken waits no more');
  memory.use(null);
});

test('a conversation that is left while nobody responds keeps the message', async () => {
  thread.adopt(conversation('v'));
  draft.show('v');
  serve({ 'POST /api/conversations/v/chat': () => { throw new TypeError('no network'); }, 'GET /api/conversations/v/messages': log });
  draft.text.value = 'lost?';
  const going = draft.submit(() => {});
  await when(() => turn.shaky.value, 'the second try');
  thread.adopt(conversation('u'));
  draft.show('u');
  turn.leave();
  await going;
  same(queue.rows.value, []);
  thread.adopt(conversation('v'));
  draft.show('v');
  same(queue.rows.value.map((r) => r.text), ['lost?']);
  queue.take(queue.rows.value[0].key);
});
