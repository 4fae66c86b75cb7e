import { refusal, same, serve, test } from './check.js';
import { of } from '/assets/state/spent.js';

test('only what one conversation has cost is shown, the most tokens first', async () => {
  serve({ 'GET /api/usage': { usage: [{ conversation: 'a', model: 'm', total_tokens: 1 }, { conversation: 'b', model: 'm', total_tokens: 9 }, { conversation: 'a', model: 'n', total_tokens: 5 }] } });
  same((await of('a')).map((x) => x.model), ['n', 'm']);
  serve({ 'GET /api/usage': () => refusal(400, 'no') });
  same(await of('a'), []);
});
