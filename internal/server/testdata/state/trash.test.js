import { conversation, same, serve, test } from './check.js';
import * as conversations from '/assets/state/conversations.js';
import { banner, toast } from '/assets/state/notices.js';
import * as trash from '/assets/state/trash.js';

const all = 'GET /api/conversations';
const ids = () => trash.list.value.map((c) => c.id);
const gone = (id, fields) => conversation(id, { deleted_at: 5, ...fields });

test('the trash is read page by page', async () => {
  const asked = serve({ [all]: ({ query }) => (query.includes('cursor') ? { conversations: [gone('b'), gone('c')], next: null } : { conversations: [gone('a'), gone('b')], next: 'n' }) });
  await trash.refresh();
  await trash.more();
  same([ids(), asked.map((r) => r.query)], [['a', 'b', 'c'], ['trash=true&limit=100', 'trash=true&limit=100&cursor=n']]);
});

test('what is taken out goes back into the list', async () => {
  conversations.loaded.value = true;
  serve({ 'POST /api/conversations/a/restore': conversation('a', { updated_at: 3 }) });
  await trash.restore(gone('a'));
  same([ids(), conversations.list.value.map((c) => c.id), toast.value.text], [['b', 'c'], ['a'], 'Restored “The a”']);
});

test('one is removed for ever, with its sub-agents; one that is gone already counts', async () => {
  trash.list.value = [gone('b'), gone('x', { agent_of: { id: 'b' } }), gone('c')];
  const asked = serve({ 'DELETE /api/conversations/b': { purged: true } });
  await trash.purge(gone('b'));
  same([ids(), asked[0].query], [['c'], 'purge=true']);
  await trash.purge(gone('c')); // 404
  same([ids(), banner.value], [[], null]);
});

test('emptying removes what is not listed too, and stops at what cannot be', async () => {
  let left = ['a', 'b', 'c', 'd'];
  const routes = { [all]: () => ({ conversations: left.slice(0, 2).map((id) => gone(id)), next: left.length > 2 ? 'n' : null }) };
  for (const id of left) routes[`DELETE /api/conversations/${id}`] = () => { left = left.filter((x) => x !== id); return {}; };
  serve(routes);
  await trash.empty();
  same([left, ids(), toast.value.text, trash.emptying.value], [[], [], 'Deleted 4 conversations for ever', 0]);
  serve({ [all]: { conversations: [gone('z')], next: null }, 'DELETE /api/conversations/z': () => Response.json({ error: { code: 'conflict', message: 'a turn runs' } }, { status: 409 }) });
  await trash.empty();
  same([ids(), banner.value.text], [['z'], 'a turn runs']);
});
