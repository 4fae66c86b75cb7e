import { conversation, same, serve, test } from './check.js';
import { list } from '/assets/state/conversations.js';
import { place } from '/assets/state/place.js';
import { make, open, remove } from '/assets/state/sample.js';
import * as thread from '/assets/state/thread.js';

test('the sample is made in the language of the page, and opened', async () => {
  const asked = serve({ 'POST /api/sample': conversation('s', { meta: { sample: true } }), 'GET /api/conversations': { conversations: [], next: null } });
  await Promise.all([make(), make()]);
  same([asked.filter((r) => r.at === 'POST /api/sample').map((r) => r.body), place.value.id], [[{ lang: 'en' }], 's']);
});

test('only the sample is removed for good', async () => {
  const asked = serve({ 'DELETE /api/conversations/s': {}, 'DELETE /api/conversations/c': {} });
  thread.adopt(conversation('c', { meta: {} }));
  same(open.value, false);
  await remove();
  same(asked.length, 0);
  const s = conversation('s', { meta: { sample: true } });
  list.value = [s, conversation('c')];
  thread.adopt(s);
  same(open.value, true);
  await remove();
  same([asked.map((r) => r.at + r.query), list.value.map((c) => c.id), place.value.id], [['DELETE /api/conversations/spurge=true'], ['c'], null]);
});
