import { refusal, same, serve, test } from './check.js';
import * as keys from '/assets/state/keys.js';
import { banner } from '/assets/state/notices.js';

test('a key is made, and its secret is held until it was read', async () => {
  const asked = serve({ 'POST /api/keys': { id: 'k', name: 'ben', secret: 'sbk_x' }, 'GET /api/keys': { keys: [{ id: 'k', name: 'ben' }] } });
  same(await keys.add({ name: 'ben', role: 'read', projects: ['p'], days: 2, tokens: 100, money: 0, currency: 'USD' }, 1000), true);
  same(asked[0].body, { name: 'ben', role: 'read', projects: ['p'], expires_at: 1000 + 2 * 86400000, budget: { tokens_per_day: 100 } });
  same([keys.fresh.value.secret, keys.list.value.length], ['sbk_x', 1]);
  keys.forget();
  same(keys.fresh.value, null);
  await keys.add({ name: 'carl', role: 'write', projects: [], days: 0, tokens: 0, money: 0 });
  same(asked[2].body, { name: 'carl', role: 'write', projects: [] });
});

test('a refusal makes nothing', async () => {
  keys.forget();
  serve({ 'POST /api/keys': () => refusal(409, 'there is a key with the name ben') });
  same([await keys.add({ name: 'ben', role: 'read', projects: [], days: 0 }), keys.fresh.value, banner.value.text], [false, null, 'there is a key with the name ben']);
});

test('a key that is revoked is not shown any more, and says so in the list', async () => {
  keys.fresh.value = { id: 'k', secret: 'sbk_x' };
  serve({ 'DELETE /api/keys/k': { id: 'k' }, 'GET /api/keys': { keys: [{ id: 'k', revoked_at: 5 }] } });
  await keys.revoke({ id: 'k', name: 'ben' });
  same([keys.fresh.value, keys.list.value.map((k) => keys.stateOf(k))], [null, ['revoked']]);
  same([keys.stateOf({ expires_at: 5 }, 5), keys.stateOf({ expires_at: 6 }, 5), keys.stateOf({})], ['expired', 'usable', 'usable']);
});
