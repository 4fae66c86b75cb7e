// The client of clients/typescript, without the page.
import { is, refusal, same, serve, stream, test } from './check.js';
import { ApiError, Scrollback } from '/assets/client/index.js';
import { readFrames } from '/assets/client/stream.js';
import { query } from '/assets/client/transport.js';

const client = new Scrollback();
const body = (pieces) => new ReadableStream({ start(c) { for (const p of pieces) c.enqueue(p); c.close(); } });
const chat = 'POST /api/conversations/c/chat';
const follow = 'GET /api/conversations/c/turns/t/events';
const begun = [1, { type: 'turn', turn_id: 't', seq: 1 }];
const delta = (n, content) => [n, { type: 'delta', content }];

async function read(from) {
  const out = [];
  for await (const one of from) out.push(one);
  return out;
}

const said = (events) => events.filter((e) => e.type === 'delta').map((e) => e.content).join('');

// endless is a response that says one thing and then nothing; let_go tells that nobody reads it.
function endless(first) {
  const state = { let_go: false };
  state.response = new Response(new ReadableStream({ start(c) { c.enqueue(new TextEncoder().encode(first)); }, cancel() { state.let_go = true; } }));
  return state;
}

const soon = async (yes) => { for (let i = 0; i < 200 && !yes(); i++) await new Promise((r) => setTimeout(r, 1)); return yes(); };

test('a query leaves out what is empty, keeps zero and joins lists', () => {
  same(query({ a: '', b: null, c: undefined, d: false, e: 0, f: 'x y&z', g: ['h', 'i'] }), '?e=0&f=x+y%26z&g=h%2Ci');
  same(query({ a: '' }), '');
});

test('each verb sends what it should', async () => {
  const asked = serve({ 'GET /api/conversations/a%2F..': 1, 'POST /api/conversations/c/clear': 2, 'PATCH /api/conversations/c': 3,
    'DELETE /api/conversations/c': 4, 'POST /api/artifacts': 5, 'DELETE /api/session': new Response(null, { status: 204 }) });
  same([await client.getConversation('a/..'), await client.clear('c'), await client.patchConversation('c', { title: 'x' }, { if_match: '"7"' }),
    await client.deleteConversation('c', { purge: true }), await client.upload('{"file":1}', { name: 'f' }), await client.signOut()], [1, 2, 3, 4, 5, undefined]);
  same(asked.map((r) => r.body), [undefined, {}, { title: 'x' }, undefined, { file: 1 }, undefined]);
  same(asked.map((r) => r.query), ['', '', '', 'purge=true', 'name=f', '']);
  same(asked.map((r) => r.headers['Content-Type']), [undefined, ...Array(3).fill('application/json'), 'application/octet-stream', 'application/json']);
  same([asked[2].headers['If-Match'], asked[2].headers.Authorization], ['"7"', undefined]);
});

test('another server is asked with its key, by a fetch that is given', async () => {
  let got = null;
  const other = new Scrollback({ baseURL: 'https://keeper.test:1/', key: 'sb_1', fetch: async (url, { method, headers }) => { got = [url, method, headers]; return Response.json({ models: [] }); } });
  await other.listModels({ headers: { 'Accept-Language': 'zh' } });
  same(got, ['https://keeper.test:1/api/models', 'GET', { Authorization: 'Bearer sb_1', 'Accept-Language': 'zh' }]);
});

test('a refusal carries what the server says, or else its status', async () => {
  const busy = Response.json({ error: { code: 'rate_limited', message: 'later', param: 'limit' } }, { status: 429, headers: { 'Retry-After': '7' } });
  serve({ 'GET /api/models': busy, 'GET /api/limits': new Response('<html>', { status: 502, statusText: 'Bad Gateway' }) });
  const err = await client.listModels().catch((e) => e);
  is(err instanceof ApiError && err instanceof Error, 'it is no ApiError');
  same([err.name, err.status, err.code, err.message, err.param, err.retryAfter], ['ApiError', 429, 'rate_limited', 'later', 'limit', 7]);
  const mute = await client.limits().catch((e) => e);
  same([mute.status, mute.code, mute.message, mute.retryAfter], [502, 'internal', '502 Bad Gateway', null]);
  const date = ApiError.of({ status: 503, statusText: '' }, '', new Date(Date.now() + 5000).toUTCString());
  is(date.retryAfter >= 4 && date.retryAfter <= 5, `a date was read as ${date.retryAfter} s`);
});

const text = ': a comment\nid: 1\ndata: {"a":"鲸🐋"}\n\nid:2\r\ndata:one\r\ndata:  two\r\nretry: 5\r\n\r\nid: 3\n\ndata\n\ndata: cut off';
const want = [{ id: '1', data: '{"a":"鲸🐋"}' }, { id: '2', data: 'one\n two' }, { id: '3', data: null }, { id: null, data: '' }];

test('frames are the same wherever the stream is cut', async () => {
  const bytes = new TextEncoder().encode(text);
  same(await read(readFrames(body([bytes]))), want);
  for (let i = 1; i < bytes.length; i++) same(await read(readFrames(body([bytes.slice(0, i), bytes.slice(i)]))), want, `cut at ${i}:`);
});

test('a chat that is cut is read on from its last event, and nothing comes twice', async () => {
  const asked = serve({ [chat]: () => stream([begun, delta(2, 'a'), delta(3, 'b')], true), [follow]: () => stream([delta(3, 'b'), delta(4, 'c')]) });
  const lost = [];
  const turn = client.chat('c', { message: 'm' }, { html: true, onLost: (fault, failures) => lost.push([fault, failures]) });
  same(said(await read(turn)), 'abc');
  same([turn.turn, turn.last, turn.done, lost], ['t', 4, true, [[null, 1]]]);
  same(asked.map((r) => `${r.at}?${r.query}`), [`${chat}?html=true`, `${follow}?html=true&after=3`]);
  same(await read(turn), [], 'what is over has no more events:');
});

test('a chat that did not begin is sent again with the same key, of its own or one that is given', async () => {
  let tries = 0;
  const asked = serve({ [chat]: () => { if (tries++ % 2 === 0) throw new TypeError('network'); return stream([begun]); } });
  await read(client.chat('c', { message: 'm' }));
  await read(client.chat('c', { message: 'm' }, { idempotency_key: 'k' }));
  const keys = asked.map((r) => r.headers['Idempotency-Key']);
  same([/^[0-9a-f]{32}$/.test(keys[0]), keys[0] === keys[1], keys.slice(2)], [true, true, ['k', 'k']]);
});

test('a refusal of a chat is thrown at once, and a server that stays away in the end', async () => {
  const asked = serve({ [chat]: () => refusal(429, 'too many') });
  same([(await read(client.chat('c', { message: 'm' })).catch((e) => e)).status, asked.length], [429, 1]);
  const again = serve({ [chat]: () => { throw new TypeError('network'); } });
  same([(await read(client.chat('c', { message: 'm' }, { tries: 1 })).catch((e) => e)).message, again.length], ['network', 2]);
});

test('who leaves the loop lets the connection go', async () => {
  const open = endless('id: 1\ndata: {"type":"turn","turn_id":"t"}\n\n');
  serve({ [chat]: () => open.response });
  for await (const event of client.chat('c', { message: 'm' })) { same(event.type, 'turn'); break; }
  is(await soon(() => open.let_go), 'the connection was kept');
});

test('a signal ends the wait for another try, with its reason', async () => {
  const stop = new AbortController();
  serve({ [chat]: () => { throw new TypeError('network'); } });
  const reading = read(client.chat('c', { message: 'm' }, { signal: stop.signal, onLost: () => stop.abort(new Error('enough')) }));
  same((await reading.catch((e) => e)).message, 'enough');
});

test('a chat to the end is one answer', async () => {
  const asked = serve({ [chat]: { turn_id: 't' } });
  same([await client.chatToEnd('c', { message: 'm' }), asked[0].body], [{ turn_id: 't' }, { message: 'm', stream: false }]);
});

test('changes are followed from a number, also one that came without a change', async () => {
  let rounds = 0;
  const stop = new AbortController();
  const asked = serve({ 'GET /api/events': () => {
    rounds++;
    if (rounds === 1) return stream([[7, { type: 'conversation' }]], true);
    if (rounds === 2) return new Response(': nothing happened\nid: 9\n\n');
    stop.abort();
    return refusal(429, 'too many');
  } });
  const changes = client.events({ after: 5, signal: stop.signal });
  same((await read(changes).catch((e) => e)).name, 'AbortError');
  same(asked.map((r) => r.query), ['after=5', 'after=7', 'after=9']);
});
