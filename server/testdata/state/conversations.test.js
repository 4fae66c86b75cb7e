import { conversation, refusal, same, serve, test, when } from './check.js';
import * as conversations from '/assets/state/conversations.js';
import { banner, toast } from '/assets/state/notices.js';

const ids = () => conversations.list.value.map((c) => c.id);
const all = 'GET /api/conversations';

test('the list is read page by page, each conversation once', async () => {
  const asked = serve({ [all]: ({ query }) => (query.includes('cursor=next')
    ? { conversations: [conversation('b'), conversation('c')], next: null }
    : { conversations: [conversation('a'), conversation('b')], next: 'next' }) });
  await conversations.refresh();
  same([ids(), conversations.loaded.value, conversations.cursor.value], [['a', 'b'], true, 'next']);
  await conversations.more();
  same([ids(), conversations.cursor.value, asked.map((r) => r.query).filter((q) => !q.includes('agent_of'))],
    [['a', 'b', 'c'], null, ['limit=50', 'cursor=next']]);
});

test('an answer that comes late does not replace a newer one', async () => {
  const wait = [];
  serve({ [all]: () => new Promise((r) => { wait.push(r); }) });
  const both = [conversations.refresh(), conversations.refresh()];
  wait[1]({ conversations: [conversation('new')], next: null });
  await both[1];
  wait[0]({ conversations: [conversation('old')], next: null });
  await both[0];
  same(ids(), ['new']);
});

test('the filter and the trash are asked for', async () => {
  const asked = serve({ [all]: { conversations: [conversation('t')], next: null } });
  conversations.setFilter(' 仓库 ');
  conversations.showTrash(true);
  same([conversations.list.value, conversations.loaded.value], [[], false]);
  await when(() => conversations.loaded.value, 'the trash');
  same(Object.fromEntries(new URLSearchParams(asked[0].query)), { q: '仓库', trash: 'true', limit: '50' });
  conversations.inTrash.value = false;
});

test('what goes to the trash can be brought back', async () => {
  conversations.list.value = [conversation('a'), conversation('b')];
  serve({ 'DELETE /api/conversations/a': { ok: true }, 'POST /api/conversations/a/restore': conversation('a'),
    [all]: { conversations: [conversation('a'), conversation('b')], next: null } });
  same([await conversations.trash(conversation('a')), ids(), toast.value.text, toast.value.action],
    [true, ['b'], 'Moved “The a” to the trash', 'Undo']);
  await toast.value.run();
  same(ids(), ['a', 'b']);
  same([await conversations.trash(conversation('x')), ids(), banner.value.text],
    [false, ['a', 'b'], 'there is no DELETE /api/conversations/x']);
});

test('a new title is shown where the old one was', async () => {
  serve({ 'PATCH /api/conversations/a': ({ body }) => conversation('a', body) });
  await conversations.rename(conversation('a'), 'New');
  same(conversations.list.value.map(conversations.titleOf), ['New', 'The b']);
  same([conversations.titleOf(null), conversations.titleOf(conversation('x', { title: '' }))], ['Untitled', 'Untitled']);
});

test('an import says what came in', async () => {
  serve({ 'POST /api/import': { conversations: [{ id: 'i', messages: 3 }, { id: 'j', messages: 4 }], skipped: ['x'], more_skipped: 1 },
    [all]: { conversations: [], next: null } });
  same([await conversations.bring('{}'), toast.value.text], ['i', 'Imported 2 conversations, 7 new messages; 2 lines skipped']);
  serve({ 'POST /api/import': refusal(400, 'line 1 is not JSON') });
  same([await conversations.bring('{}'), toast.value.text, banner.value.text], [null, '', 'line 1 is not JSON']);
});

test('a title is asked for once', async () => {
  const asked = serve({ 'GET /api/conversations/far': conversation('far') });
  same([await conversations.titleFor('far'), await conversations.titleFor('far'), asked.length], ['The far', 'The far', 1]);
  same(await conversations.titleFor('gone-long-ago'), 'gone-lon');
});

test('a change of a sub-agent does not read the list again', async () => {
  const child = { ...conversation('child'), agent_of: { id: 'a' } };
  const asked = serve({ [all]: ({ query }) => ({ conversations: query.includes('agent_of') ? [child] : [conversation('a')], next: null }) });
  await conversations.refresh();
  const lists = () => asked.filter((r) => !r.query.includes('agent_of')).length;
  const ev = { type: 'conversation', conversation_id: 'child', agent_of: { id: 'a' }, version: 2, updated_at: 9 };
  same([conversations.told(ev), conversations.told({ ...ev, type: 'trash', deleted_at: 9 }), conversations.told({ ...ev, gone: true })],
    [true, true, true]);
  same([ids(), lists()], [['a'], 1]);
  conversations.inTrash.value = true; // where a sub-agent that was put there by itself is shown
  same([conversations.told(ev), conversations.told({ ...ev, type: 'trash', deleted_at: 9 })], [true, false]);
  conversations.inTrash.value = false;
});
