import { conversation, refusal, same, serve, test, when } from './check.js';
import * as conversations from '/assets/state/conversations.js';
import { banner, toast } from '/assets/state/notices.js';

const ids = () => conversations.list.value.map((c) => c.id);
const all = 'GET /api/conversations';

const lists = (asked) => asked.map((r) => r.query).filter((q) => !q.includes('agent_of') && !q.includes('pinned'));

test('the list is read page by page, each conversation once', async () => {
  const asked = serve({ [all]: ({ query }) => (query.includes('pinned') ? { conversations: [], next: null } : query.includes('cursor=next')
    ? { conversations: [conversation('b'), conversation('c')], next: null }
    : { conversations: [conversation('a'), conversation('b')], next: 'next' }) });
  await conversations.refresh();
  same([ids(), conversations.loaded.value, conversations.cursor.value], [['a', 'b'], true, 'next']);
  await Promise.all([conversations.more(), conversations.more()]);
  await conversations.more();
  same([ids(), conversations.cursor.value, lists(asked)], [['a', 'b', 'c'], null, ['limit=100', 'cursor=next&limit=200']]);
});

test('reading the newest again keeps the older ones that were read', async () => {
  const dated = (id, updated_at) => conversation(id, { updated_at });
  let top = [dated('a', 9), dated('b', 8)];
  serve({ [all]: ({ query }) => (query.includes('pinned') ? { conversations: [], next: null } : query.includes('cursor') ? { conversations: [dated('c', 7), dated('d', 6)], next: 'far' } : { conversations: top, next: 'next' }) });
  await conversations.refresh();
  await conversations.more();
  top = [dated('new', 10), dated('a', 9)]; // b is gone
  await conversations.refresh();
  same([ids(), conversations.cursor.value], [['new', 'a', 'b', 'c', 'd'], 'far'].map((x) => x), 'what lies below the newest page stays:');
  await conversations.setProject('p');
  same(ids(), ['new', 'a'], 'of a project nothing of the others stays:');
  await conversations.setProject(null);
});

test('an answer that comes late does not replace a newer one', async () => {
  const wait = [];
  serve({ [all]: ({ query }) => (query.includes('pinned') ? { conversations: [], next: null } : new Promise((r) => { wait.push(r); })) });
  const both = [conversations.refresh(), conversations.refresh()];
  wait[1]({ conversations: [conversation('new')], next: null });
  await both[1];
  wait[0]({ conversations: [conversation('old')], next: null });
  await both[0];
  same(ids(), ['new']);
});

test('the filter and the project are asked for, also of what is pinned', async () => {
  const asked = serve({ [all]: { conversations: [conversation('t')], next: null } });
  conversations.loaded.value = false;
  conversations.project.value = 'harbour';
  conversations.setFilter(' 仓库 ');
  await when(() => conversations.loaded.value, 'the list');
  same(asked.slice(0, 2).map((r) => Object.fromEntries(new URLSearchParams(r.query))), [{ q: '仓库', project: 'harbour', limit: '100' }, { q: '仓库', project: 'harbour', pinned: 'true', limit: '200' }]);
  conversations.filter.value = '';
  conversations.project.value = null;
});

test('what is new comes into the list at once, where its time says', () => {
  conversations.list.value = [conversation('b', { updated_at: 5 }), conversation('a', { updated_at: 3 })];
  conversations.pinned.value = [];
  conversations.cursor.value = null;
  conversations.keep(conversation('mid', { updated_at: 4 }));
  conversations.keep(conversation('agent', { updated_at: 9, agent_of: { id: 'a' } }));
  conversations.keep(conversation('gone', { updated_at: 9, deleted_at: 9 }));
  same(ids(), ['b', 'mid', 'a']);
  conversations.cursor.value = 'more';
  conversations.keep(conversation('old', { updated_at: 1 })); // it comes with its page
  conversations.keep(conversation('a', { updated_at: 8, settings: { pinned: true } }));
  same([ids(), conversations.pinned.value.map((c) => c.id), conversations.isPinned('a')], [['a', 'b', 'mid'], ['a'], true]);
  conversations.keep(conversation('a', { updated_at: 8, settings: {} }));
  same(conversations.pinned.value, []);
  conversations.project.value = 'default';
  conversations.keep(conversation('b', { updated_at: 9, project: 'other' }));
  same(ids(), ['a', 'mid'], 'what moved out of the project that is shown:');
  conversations.project.value = null;
  conversations.cursor.value = null;
});

test('what goes to the trash can be brought back', async () => {
  conversations.list.value = [conversation('a', { updated_at: 2 }), conversation('b', { updated_at: 1 })];
  serve({ 'DELETE /api/conversations/a': { ok: true }, 'POST /api/conversations/a/restore': conversation('a', { updated_at: 2 }) });
  same([(await conversations.trash([conversation('a')])).length, ids(), toast.value.text, toast.value.action],
    [1, ['b'], 'Moved “The a” to the trash', 'Undo']);
  await toast.value.run();
  same(ids(), ['a', 'b']);
  same([(await conversations.trash([conversation('x')])).length, ids(), banner.value.text],
    [0, ['a', 'b'], 'there is no DELETE /api/conversations/x']);
  banner.value = null;
});

test('several are changed a few at a time, and what fails leaves the others', async () => {
  conversations.list.value = [];
  let [now, most] = [0, 0];
  const routes = {};
  const many = Array.from({ length: 9 }, (_, i) => conversation(`m${i}`));
  for (const c of many) {
    routes[`PATCH /api/conversations/${c.id}`] = async ({ body }) => {
      most = Math.max(most, ++now);
      await new Promise((r) => { setTimeout(r, 1); });
      now--;
      return c.id === 'm3' ? refusal(409, 'no') : { ...c, ...body };
    };
  }
  serve(routes);
  same([(await conversations.move(many, 'p')).length, most, toast.value.text, banner.value.text], [8, 4, 'Moved 8 conversations to p', 'no']);
  conversations.list.value = [];
});

test('a new title and a pin are shown where the old ones were', async () => {
  conversations.list.value = [conversation('a'), conversation('b')];
  const asked = serve({ 'PATCH /api/conversations/a': ({ body }) => conversation('a', body) });
  await conversations.rename(conversation('a'), 'New');
  same(conversations.list.value.map(conversations.titleOf), ['New', 'The b']);
  await conversations.pin(conversation('a'), true);
  same([asked[1].body, conversations.isPinned('a')], [{ settings: { pinned: true } }, true]);
  same([conversations.titleOf(null), conversations.titleOf(conversation('x', { title: '' }))], ['Untitled', 'Untitled']);
});

test('a copy is named as one, once, and is in the list', async () => {
  const asked = serve({ 'POST /api/conversations/a/fork': ({ body }) => conversation('f', { ...body, updated_at: 99 }) });
  await conversations.fork(conversation('a', { title: 'copy of T' }));
  same([asked[0].body.title, ids()[0]], ['copy of T', 'f']);
});

test('a turn that begins elsewhere is marked until it ends', () => {
  const ev = { type: 'turn', conversation_id: 'a', version: 0, updated_at: 0 };
  conversations.told({ ...ev, state: 'open' });
  same([...conversations.running.value], ['a']);
  conversations.told({ ...ev, state: 'complete' });
  same([...conversations.running.value], []);
});

test('what somebody else pins is pinned here', async () => {
  conversations.list.value = [conversation('a', { version: 1, updated_at: 1 })];
  conversations.pinned.value = [];
  serve({ 'GET /api/conversations/a': conversation('a', { version: 2, updated_at: 2, settings: { pinned: true } }) });
  same(conversations.told({ type: 'conversation', conversation_id: 'a', title: 'The a', version: 2, updated_at: 2, project: 'default' }), true);
  await when(() => conversations.isPinned('a'), 'the pin');
});

test('a title is asked for once', async () => {
  const asked = serve({ 'GET /api/conversations/far': conversation('far') });
  same([await conversations.titleFor('far'), await conversations.titleFor('far'), asked.length], ['The far', 'The far', 1]);
  same(await conversations.titleFor('gone-long-ago'), 'gone-lon');
});

test('a change of a sub-agent does not read the list again', async () => {
  const child = { ...conversation('child'), agent_of: { id: 'a' } };
  const asked = serve({ [all]: ({ query }) => ({ conversations: query.includes('agent_of') ? [child] : query.includes('pinned') ? [] : [conversation('a')], next: null }) });
  await conversations.refresh();
  const ev = { type: 'conversation', conversation_id: 'child', agent_of: { id: 'a' }, version: 2, updated_at: 9 };
  same([conversations.told(ev), conversations.told({ ...ev, type: 'trash', deleted_at: 9 }), conversations.told({ ...ev, gone: true })],
    [true, true, true]);
  same([ids(), lists(asked).length], [['a'], 1]);
});
