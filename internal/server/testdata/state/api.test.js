import { refusal, same, serve, test } from './check.js';
import { convo, del, get, patch, post, query, upload } from '/assets/state/api.js';
import { lang } from '/assets/state/words.js';

test('a query leaves out what is empty, and keeps zero', () => {
  same(query({ a: '', b: null, c: undefined, d: false, e: 0, f: 'x y&z' }), '?e=0&f=x+y%26z');
  same(query({ a: '' }), '');
});

test('an id cannot leave its place in the path', () => same(convo('a/../b?', '/turns'), '/api/conversations/a%2F..%2Fb%3F/turns'));

test('each verb sends what it should', async () => {
  const asked = serve({ 'GET /x': 1, 'POST /x': 2, 'PATCH /x': 3, 'DELETE /x': 4, 'POST /up': 5 });
  lang.value = 'zh';
  same([await get('/x'), await post('/x'), await patch('/x', { a: 1 }, { 'If-Match': '"7"' }), await del('/x'),
    await upload('/up', '{"file":1}')], [1, 2, 3, 4, 5]);
  same(asked.map((r) => r.body), [undefined, {}, { a: 1 }, undefined, { file: 1 }]);
  same(asked.map((r) => r.headers['Content-Type']), [undefined, ...Array(3).fill('application/json'), 'application/octet-stream']);
  same(asked.map((r) => r.headers['Accept-Language']), Array(5).fill('zh'));
  same(asked[2].headers['If-Match'], '"7"');
});

test('a refusal carries the words of the server, or else its status', async () => {
  serve({ 'GET /said': refusal(409, 'somebody was first'),
    'GET /mute': new Response('<html>', { status: 502, statusText: 'Bad Gateway' }) });
  const said = await get('/said').catch((err) => err);
  same([said.name, said.status, said.code, said.message], ['Error', 409, 'invalid', 'somebody was first']);
  const mute = await get('/mute').catch((err) => err);
  same([mute.status, mute.code, mute.message], [502, 'internal', '502 Bad Gateway']);
});
