import { conversation, same, serve, test, when } from './check.js';
import { agentsOf, isOpen, keep, load, startedBy, toggle, told } from '/assets/state/agents.js';

const list = 'GET /api/conversations';
const agent = (id, of, fields) => conversation(id, { agent_of: { id: of, call_id: `call-${id}` }, updated_at: 1, version: 1, ...fields });
const ids = (of) => agentsOf(of).map((c) => c.id);

test('the agents of conversations are read, and theirs', async () => {
  const asked = serve({ [list]: ({ query }) => {
    const of = new URLSearchParams(query).get('agent_of').split(',');
    return { conversations: of.includes('a') ? [agent('x', 'a'), agent('y', 'a')] : of.includes('x') ? [agent('z', 'x')] : [] };
  } });
  await load(['a', 'b']);
  same([ids('a'), ids('b'), ids('x'), asked.map((r) => new URLSearchParams(r.query).get('agent_of'))],
    [['x', 'y'], [], ['z'], ['a,b', 'x,y', 'z']]);
  same([startedBy('a', 'call-y').id, startedBy('a', 'other'), startedBy('b', 'call-y')], ['y', undefined, undefined]);
});

test('a server that lists everything shows nothing twice', async () => {
  serve({ [list]: { conversations: [conversation('p'), conversation('q')] } });
  await load(['p', 'q']);
  same([ids('p'), ids('q')], [[], []]);
  serve({});
  await load(['p']);
  same(ids('p'), []);
});

test('they are shown once they are opened', () => {
  same(isOpen('a'), false);
  toggle('a');
  same(isOpen('a'), true);
  toggle('a', true);
  same(isOpen('a'), true);
  toggle('a');
  same(isOpen('a'), false);
});

test('what becomes of an agent is shown below its conversation', async () => {
  same(told({ conversation_id: 'a', title: 'no agent' }), false);
  same(told({ conversation_id: 'y', agent_of: { id: 'a' }, title: 'Renamed', version: 2, messages: 3, updated_at: 9 }), true);
  same([ids('a'), agentsOf('a')[0].title], [['y', 'x'], 'Renamed']);
  same(told({ conversation_id: 'x', agent_of: { id: 'a' }, type: 'trash', deleted_at: 5 }), true);
  same(ids('a'), ['y']);
  serve({ [list]: { conversations: [agent('y', 'a'), agent('new', 'a')] } });
  same(told({ conversation_id: 'new', agent_of: { id: 'a' }, updated_at: 10 }), true);
  await when(() => agentsOf('a').length === 2, 'the new one');
  keep(agent('new', 'a', { title: 'Kept' }));
  keep(conversation('a'));
  same(startedBy('a', 'call-new').title, 'Kept');
});
