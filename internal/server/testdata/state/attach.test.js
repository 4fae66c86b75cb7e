import { refusal, same, serve, test, when } from './check.js';
import * as attach from '/assets/state/attach.js';
import { setLang } from '/assets/state/words.js';

const file = (name, type = '') => Object.assign(new Blob(['bytes'], { type }), { name });
const kept = (fields) => ({ id: 'ab', media_type: 'image/png', size: 5, ...fields });
const at = 'POST /api/artifacts';
const of = (id) => attach.attached(id).map(({ key, ...a }) => a);

test('files are uploaded as they are, and become parts of the message', async () => {
  const asked = serve({ [at]: ({ query }) => (query.includes('.txt') ? kept({ id: 'cd', media_type: 'text/plain' }) : kept()) });
  const done = attach.add('c', [file('图.png', 'image/png'), file('a.txt')]);
  same([attach.uploading('c'), attach.ready('c'), attach.attached('other')], [true, [], []]);
  await done;
  same([attach.uploading('c'), attach.ready('c')], [false, [{ type: 'image', artifact: 'ab', name: '图.png' }, { type: 'file', artifact: 'cd', name: 'a.txt' }]]);
  same(Object.fromEntries(new URLSearchParams(asked[0].query)), { conversation: 'c', name: '图.png' });
  same([asked[0].headers['Content-Type'], asked[0].body instanceof Blob], ['application/octet-stream', true]);
  attach.remove('c', attach.attached('c')[0].key);
  same(attach.ready('c').map((p) => p.name), ['a.txt']);
  const held = attach.empty('c');
  same(attach.attached('c'), []);
  attach.put('c', held);
  same(attach.ready('c').map((p) => p.name), ['a.txt']);
});

test('what is refused says why, and does not hold the message up', async () => {
  serve({ [at]: () => refusal(413, 'the body is over the limit of 20971520 bytes') });
  await attach.add('big', [file('film.mov', 'video/quicktime')]);
  same([of('big'), attach.uploading('big'), attach.ready('big')], [[{ name: 'film.mov', size: 5, fault: 'too large; at most 20 MB' }], false, []]);
  serve({ [at]: () => refusal(400, '名称太长') });
  await attach.add('named', [file('a.png')]);
  same(of('named')[0].fault, '名称太长');
  globalThis.fetch = async () => { throw new TypeError('Failed to fetch'); };
  await attach.add('gone', [file('a.png')]);
  same(of('gone')[0].fault, 'The server is not responding.');
});

test('an image that models are not shown is sent as a file, which is said', async () => {
  serve({ [at]: kept({ media_type: 'image/heic' }) });
  await attach.add('heic', [file('a.heic', 'image/heic'), file('', 'image/heic')]);
  same(of('heic')[0], { name: 'a.heic', size: 5, note: 'no image that models can be shown; sent as a file',
    part: { type: 'file', artifact: 'ab', name: 'a.heic' } });
  setLang('zh');
  await attach.add('heic2', [file('', 'image/heic')]);
  same(of('heic2')[0].name, '图片');
  setLang('en');
});

test('what an image or a file weighs in the next request is asked once', async () => {
  const asked = serve({ [at]: kept(), 'POST /api/conversations/w/context': { draft: 85 } });
  await attach.add('w', [file('a.png', 'image/png')]);
  await attach.weigh('w', attach.attached('w')[0].key);
  await when(() => attach.attached('w')[0].tokens === 85, 'its weight');
  same(asked[1].body, { message: [{ type: 'image', artifact: 'ab', name: 'a.png' }] });
  same([attach.message('t', []), attach.message('t', attach.attached('w')).length, attach.message(' ', attach.attached('w')).length, attach.long('x'.repeat(4000)), attach.long('x'.repeat(4001))],
    ['t', 2, 1, false, true]);
  const again = attach.back(attach.keep([...attach.attached('w'), { key: 0, name: 'on its way' }]));
  same(again.map((a) => [a.name, a.tokens, a.part.artifact]), [['a.png', 85, 'ab']]);
});

test('what is taken away is not uploaded on', async () => {
  let request = null;
  serve({ [at]: (r) => new Promise((_, no) => { request = r; r.signal.addEventListener('abort', () => no(r.signal.reason)); }) });
  const done = attach.add('x', [file('a.png')]);
  attach.remove('x', attach.attached('x')[0].key);
  await done;
  same([request.signal.aborted, attach.attached('x')], [true, []]);
});

test('what a message has attached can be attached again', () => {
  const parts = [{ type: 'image', artifact: 'ab', name: 'a.png', size: 5, width: 3, media_type: 'image/png', detail: 'low' }];
  attach.put('again', attach.of(parts));
  const { url, ...part } = attach.ready('again')[0];
  same([part, url], [{ type: 'image', artifact: 'ab', name: 'a.png', detail: 'low' }, undefined]);
  attach.put('far', attach.of([{ type: 'image', url: 'https://example.org/a.png' }]));
  same(JSON.stringify(attach.ready('far')), '[{"type":"image","url":"https://example.org/a.png"}]');
});
