import { refusal, same, serve, test } from './check.js';
import { api, convo, door } from '/assets/state/api.js';
import { lang } from '/assets/state/words.js';

test('an id cannot leave its place in a link', () => same(convo('a/../b?', '/turns'), '/api/conversations/a%2F..%2Fb%3F/turns'));

test('the server is asked in the language of the page', async () => {
  const asked = serve({ 'GET /api/models': { models: [] } });
  lang.value = 'zh';
  await api.listModels();
  lang.value = 'en';
  await api.listModels();
  same(asked.map((r) => r.headers['Accept-Language']), ['zh', 'en']);
});

test('a server that wants a key shuts the door, and no other refusal does', async () => {
  let shut = 0;
  door.shut = () => { shut++; };
  serve({ 'GET /api/models': refusal(403, 'not you'), 'GET /api/limits': refusal(401, 'who are you?') });
  await api.listModels().catch(() => {});
  same(shut, 0);
  await api.limits().catch(() => {});
  same(shut, 1);
});
