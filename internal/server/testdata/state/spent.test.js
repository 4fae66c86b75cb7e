import { refusal, same, serve, test } from './check.js';
import { of } from '/assets/state/spent.js';

test('only what one conversation has cost is shown, the most tokens first', async () => {
  const asked = serve({ 'GET /api/usage': { usage: [{ model: 'm', total_tokens: 1 }, { model: 'n', total_tokens: 5 }] } });
  same([(await of('a')).map((x) => x.model), asked[0].query], [['n', 'm'], 'group_by=model&conversation=a']);
  serve({ 'GET /api/usage': () => refusal(400, 'no') });
  same(await of('a'), []);
});
