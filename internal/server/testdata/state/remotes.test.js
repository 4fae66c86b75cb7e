import { same, serve, test } from './check.js';
import * as remotes from '/assets/state/remotes.js';

test('the remotes are read, and why they cannot be is said', async () => {
  serve({ 'GET /api/sync': { remotes: [{ remote: 'ssh://desk', last_met: 1, waiting: 0 }] } });
  await remotes.refresh();
  same([remotes.list.value[0].remote, remotes.wrong.value], ['ssh://desk', '']);
  serve({});
  await remotes.refresh();
  same([remotes.list.value.length, remotes.wrong.value !== ''], [1, true]);
});
