import { conversation, is, message, messages, refusal, same, serve, stream, test, when } from './check.js';
import { banner, hush, toast } from '/assets/state/notices.js';
import * as thread from '/assets/state/thread.js';
import { learn } from '/assets/state/models.js';
import * as web from '/assets/state/web.js';
import * as turn from '/assets/state/turn.js';

let stored = [];
const log = { 'GET /api/conversations/c/messages': ({ query }) => {
  const after = Number(new URLSearchParams(query).get('after') || 0);
  return { messages: stored.filter((m) => m.seq > after), next: null, running: null };
} };
const chat = 'POST /api/conversations/c/chat';
const begins = (seq) => {
  stored = messages(1, seq);
  return [1, { type: 'turn', turn_id: 't', seq }];
};
const delta = (n, content, at) => [n, { type: 'delta', content, at }];
const finish = (n, seq) => { stored = [...stored, message(seq, 'assistant')]; return [n, { type: 'message', seq }]; };

function fresh() {
  stored = [];
  hush();
  thread.adopt(conversation('c'));
}

test('a message is asked, and its answer is what was stored', async () => {
  fresh();
  let during = null;
  const asked = serve({ ...log, [chat]: () => {
    during = [turn.running.value, turn.asked.value.parts];
    return stream([begins(1), delta(2, 'Hel', 0), delta(3, 'lo', 3), [4, { type: 'compaction', result: 'compacted', last_seq: 9 }],
      finish(5, 2), [6, { type: 'done' }]]);
  } });
  const [begun, ended] = [turn.begun.value, turn.ended.value];
  same(await turn.ask('c', 'hello?'), true);
  same(during, [{ conversation: 'c', turn: null }, [{ type: 'text', text: 'hello?' }]]);
  same([asked[0].body, /^[0-9a-f]{32}$/.test(asked[0].headers['Idempotency-Key'])], [{ message: 'hello?' }, true]);
  same([thread.newest(), turn.running.value, turn.step.value, turn.asked.value, turn.compactions.value], [2, null, null, null, []]);
  same([turn.begun.value - begun, turn.ended.value - ended], [1, 1]);
});

test('closed blocks are drawn while the answer is written', async () => {
  fresh();
  const open = new TransformStream();
  const writer = open.writable.getWriter();
  serve({ ...log, [chat]: () => new Response(open.readable) });
  const send = (n, ev) => writer.write(new TextEncoder().encode(`${n ? `id: ${n}\n` : ''}data: ${JSON.stringify(ev)}\n\n`));
  const done = turn.ask('c', 'm');
  send(...begins(1));
  send(...delta(2, '*a*\n\nb\n', 0));
  send(0, { type: 'block', index: 0, at: 0, end: 5, html: '<p><em>a</em></p>' });
  await when(() => turn.step.value && turn.step.value.blocks.length === 1, 'the block');
  same([turn.step.value.blocks[0].html, turn.step.value.covered], ['<p><em>a</em></p>', 5]);
  writer.write(new TextEncoder().encode('data: [DONE]\n\n'));
  writer.close();
  same(await done, true);
});

test('a wait for a compaction is shown until the next event', async () => {
  fresh();
  const open = new TransformStream();
  const writer = open.writable.getWriter();
  serve({ ...log, [chat]: () => new Response(open.readable) });
  const send = (n, ev) => writer.write(new TextEncoder().encode(`id: ${n}\ndata: ${JSON.stringify(ev)}\n\n`));
  const done = turn.ask('c', 'm');
  send(...begins(1));
  send(2, { type: 'compacting', tokens: 9, budget: 8 });
  await when(() => turn.compacting.value, 'the wait');
  send(3, { type: 'compaction', result: 'compacted', last_seq: 9 });
  await when(() => turn.compactions.value.length === 1, 'the compaction');
  same(turn.compacting.value, false);
  writer.write(new TextEncoder().encode('data: [DONE]\n\n'));
  writer.close();
  same(await done, true);
});

test('a search of the web is awaited and shown, and the newest of a query stands', async () => {
  fresh();
  const open = new TransformStream();
  const writer = open.writable.getWriter();
  const asked = serve({ ...log, [chat]: () => new Response(open.readable), 'GET /api/models': { models: [{ name: 'm', default: true, web_search: 'searxng' }] } });
  await learn();
  web.on.value = true;
  const send = (n, ev) => writer.write(new TextEncoder().encode(`id: ${n}\ndata: ${JSON.stringify(ev)}\n\n`));
  const done = turn.ask('c', 'm');
  send(...begins(1));
  same(turn.searching.value, true);
  send(2, { type: 'search', query: 'q', results: [] });
  send(3, { type: 'search', query: 'q', results: [{ url: 'https://a.test/' }] });
  await when(() => turn.searches.value.length === 1 && turn.searches.value[0].results.length === 1, 'the search');
  same(turn.searching.value, false);
  writer.write(new TextEncoder().encode('data: [DONE]\n\n'));
  writer.close();
  same(await done, true);
  same([asked.find((a) => a.body).body, turn.searches.value], [{ message: 'm', web_search: true }, []]);
  web.on.value = false;
});

test('a connection that drops is made again from the last event, and nothing is said twice', async () => {
  fresh();
  const open = new TransformStream();
  const writer = open.writable.getWriter();
  const receipt = [3, { type: 'compaction', result: 'compacted', last_seq: 9 }];
  const asked = serve({ ...log, [chat]: () => stream([begins(1), delta(2, 'abc', 0), receipt], true),
    'GET /api/conversations/c/turns/t/events': () => new Response(open.readable) });
  const done = turn.ask('c', 'm');
  const send = (n, ev) => writer.write(new TextEncoder().encode(`id: ${n}\ndata: ${JSON.stringify(ev)}\n\n`));
  send(2, { type: 'delta', content: 'abc', at: 0 });
  send(...receipt);
  send(4, { type: 'delta', content: 'cd', at: 2 });
  await when(() => turn.step.value && turn.step.value.text === 'abcd', 'the rest of the answer');
  same([asked.map((r) => r.at + '?' + r.query).filter((a) => /chat|events/.test(a)), turn.shaky.value],
    [[chat + '?html=true', 'GET /api/conversations/c/turns/t/events?html=true&after=3'], false]);
  same(turn.compactions.value.length, 1, 'an event that came twice:');
  writer.write(new TextEncoder().encode('data: [DONE]\n\n'));
  writer.close();
  same(await done, true);
});

test('a beginning that failed is tried again with the same key', async () => {
  fresh();
  let tries = 0;
  const asked = serve({ ...log, [chat]: () => {
    if (tries++ === 0) throw new TypeError('network');
    return stream([begins(1), [2, { type: 'done', status: 'waiting' }]]);
  } });
  same(await turn.ask('c', 'm'), true);
  const keys = asked.filter((r) => r.at === chat).map((r) => r.headers['Idempotency-Key']);
  same([keys.length, keys[0] === keys[1], banner.value], [2, true, null]);
  is(toast.value.text.startsWith('This turn is waiting'), toast.value.text);
});

test('a refusal ends it, and the words of the server are shown', async () => {
  fresh();
  const asked = serve({ ...log, [chat]: () => refusal(409, 'a turn is open') });
  same([await turn.ask('c', 'm'), banner.value, turn.asked.value, turn.running.value, asked.filter((r) => r.at === chat).length],
    [false, { text: 'a turn is open' }, null, null, 1]);
});

test('whoever asks can be told why it was not taken, and the same key asks the same', async () => {
  fresh();
  const asked = serve({ ...log, [chat]: () => refusal(409, 'a turn is open') });
  let why = null;
  same(await turn.ask('c', 'm', { key: 'k', failed: (err) => { why = err; } }), false);
  same([why.status, banner.value, asked[0].headers['Idempotency-Key'], turn.over.value && turn.over.value.conversation === 'c' && turn.over.value.turn], [409, null, 'k', turn.over.value.turn]);
});

test('how a turn ended is known, and each stored message is counted', async () => {
  fresh();
  const stored = turn.stored.value;
  serve({ ...log, [chat]: () => stream([begins(1), finish(2, 2), [3, { type: 'done', status: 'complete' }]]) });
  await turn.ask('c', 'm');
  same([turn.over.value, turn.stored.value - stored], [{ conversation: 'c', turn: 't', well: true }, 1]);
  fresh();
  serve({ ...log, [chat]: () => stream([begins(1), [2, { type: 'error', message: 'no' }], [3, { type: 'done', status: 'failed' }]]) });
  await turn.ask('c', 'm');
  same(turn.over.value.well, false);
});

test('a turn that fails says why at its place', async () => {
  fresh();
  const turns = [{ turn_id: 't', after_seq: 1, state: 'failed', error: { message: 'no such model' } }];
  serve({ 'GET /api/conversations/c/messages': () => ({ messages: messages(1, 1), next: null, turns }),
    [chat]: () => stream([begins(1), [2, { type: 'error', message: 'no such model' }]]) });
  await turn.ask('c', 'm');
  same([banner.value, thread.after(1).map((e) => e.error.message)], [null, ['no such model']]);
});

test('leaving stops the reading, not the turn', async () => {
  fresh();
  let signal = null;
  const asked = serve({ ...log, 'GET /api/conversations/c/turns/t/events': (r) => {
    signal = r.signal;
    return new Promise((_, no) => { r.signal.onabort = () => no(r.signal.reason); });
  },
    'POST /api/conversations/c/turns/t/cancel': {} });
  const done = turn.attach('c', 't');
  await turn.stop();
  same(asked.map((r) => r.at), ['GET /api/conversations/c/turns/t/events', 'POST /api/conversations/c/turns/t/cancel']);
  turn.leave();
  same([await done, signal.aborted, turn.running.value, banner.value], [true, true, null, null]);
});

test('what a message could not refer to is known while its turn runs', async () => {
  fresh();
  const refused = [{ mark: '/etc/hostname', kind: 'file', error: 'refused: outside the roots' }];
  const open = new TransformStream();
  const writer = open.writable.getWriter();
  serve({ ...log, [chat]: () => new Response(open.readable) });
  const send = (n, ev) => writer.write(new TextEncoder().encode(`id: ${n}\ndata: ${JSON.stringify(ev)}\n\n`));
  const done = turn.ask('c', [{ type: 'text', text: '@[/etc/hostname]' }]);
  send(...begins(1));
  send(2, { type: 'meta', references: refused });
  await when(() => turn.references.value.length > 0, 'the references');
  same(turn.references.value, refused);
  writer.write(new TextEncoder().encode('data: [DONE]\n\n'));
  writer.close();
  await done;
  same(turn.references.value, []);
});
