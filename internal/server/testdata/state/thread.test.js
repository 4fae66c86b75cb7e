import { conversation, messages, same, serve, test, refusal } from './check.js';
import { banner } from '/assets/state/notices.js';
import * as thread from '/assets/state/thread.js';

const seqs = () => { const ms = thread.messages.value; return ms.length ? [ms[0].seq, thread.newest(), ms.length] : []; };

// log serves a conversation of n messages as the server pages it.
function log(id, n) {
  return serve({ [`GET /api/conversations/${id}`]: () => conversation(id, { messages: n }),
    [`GET /api/conversations/${id}/messages`]: ({ query }) => {
    const q = new URLSearchParams(query);
    const limit = Number(q.get('limit'));
    if (q.get('after') !== null) {
      const from = Number(q.get('after')) + 1;
      const to = Math.min(n, from + limit - 1);
      return { messages: messages(from, to), next: to < n ? to : null };
    }
    const to = Math.min(n, (Number(q.get('before')) || n + 1) - 1);
    return { messages: messages(Math.max(1, to - limit + 1), to), next: null, running: 'turn' };
  } });
}

test('a conversation opens at its end, or around a message', async () => {
  log('a', 600);
  same([await thread.open('a', 0), seqs(), thread.older.value, thread.newer.value],
    [{ id: 'a', running: 'turn' }, [551, 600, 50], true, false]);
  await thread.open('a', 300);
  same([seqs(), thread.older.value, thread.newer.value, thread.target.value], [[291, 340, 50], true, true, { seq: 300 }]);
  await thread.open('a', 4);
  same([seqs(), thread.older.value], [[1, 50, 50], false]);
  const asked = log('a', 600);
  await thread.open('a', 44);
  same([asked.length, thread.target.value], [0, { seq: 44 }], 'a message that is there:');
});

test('turns stand where they belong, come with their page, and go with it', async () => {
  const entry = (turn_id, after_seq, more) => ({ turn_id, after_seq, state: 'failed', started_at: after_seq, ...more });
  let turns = [entry('old', 552), entry('new', 600, { retry: true })];
  const routes = (n) => ({ 'GET /api/conversations/a': () => conversation('a', { messages: n }),
    'GET /api/conversations/a/messages': ({ query }) => {
      const q = new URLSearchParams(query);
      const from = q.get('after') !== null ? Number(q.get('after')) + 1 : Math.max(1, Number(q.get('before') || n + 1) - 50);
      const to = q.get('before') ? Number(q.get('before')) - 1 : n;
      return { messages: messages(from, to), next: null, turns: turns.filter((e) => e.after_seq >= from && e.after_seq <= to) };
    } });
  const shown = () => [552, 600, 601].map((seq) => thread.after(seq).map((e) => e.turn_id + (e.retry ? '+' : '')).join());
  serve(routes(600));
  await thread.open('a', 0);
  same(shown(), ['old', 'new+', '']);
  turns = [entry('old', 552), entry('new', 600), entry('again', 600, { started_at: 700 }), entry('last', 601)];
  serve(routes(601));
  await thread.catchUp();
  same(shown(), ['old', 'new,again', 'last'], 'what became of the newest:');
  await thread.loadOlder();
  same(shown(), ['old', 'new,again', 'last'], 'older messages:');
  thread.close();
  same([shown(), thread.turns.value], [['', '', ''], []]);
});

test('what is held grows at both ends, without a gap, up to a bound', async () => {
  log('a', 600);
  await thread.open('a', 300);
  await thread.loadOlder();
  await thread.loadNewer();
  same(seqs(), [241, 390, 150]);
  await thread.loadOlder();
  await thread.loadOlder();
  let told = 0;
  thread.eyes.before = () => { told++; };
  for (let i = 0; i < 10; i++) await thread.loadNewer();
  same([seqs(), thread.newer.value, told], [[201, 600, 400], false, 5]);
  for (let i = 0; i < 10; i++) await thread.loadOlder();
  same([seqs(), thread.older.value, thread.newer.value], [[1, 400, 400], false, true]);
});

test('what is stored meanwhile is caught up with at the end only', async () => {
  log('a', 600);
  await thread.open('a', 0);
  log('a', 650);
  await thread.catchUp();
  same(seqs(), [551, 650, 100]);
  await thread.open('a', 300);
  log('a', 700);
  await thread.catchUp(700);
  same([seqs(), thread.newer.value], [[291, 340, 50], true]);
  await thread.toEnd();
  same(seqs(), [651, 700, 50]);
});

test('what was asked for before is not shown after', async () => {
  const late = [];
  serve({ 'GET /api/conversations/slow': () => new Promise((r) => { late.push(r); }),
    'GET /api/conversations/slow/messages': { messages: messages(1, 2) } });
  const slow = thread.open('slow', 0);
  log('b', 5);
  await thread.open('b', 0);
  late[0](conversation('slow'));
  same([await slow, thread.conversation.value.id, seqs()], [null, 'b', [1, 5, 5]]);
  thread.close();
  same([thread.conversation.value, seqs(), thread.newer.value], [null, [], false]);
});

test('one that cannot be opened says so', async () => {
  serve({});
  same([await thread.open('gone', 0), thread.opening.value, thread.conversation.value, thread.missing.value, banner.value], [null, false, null, 'gone', null]);
  serve({ 'GET /api/conversations/gone': refusal(503, 'the store cannot answer now') });
  same([await thread.open('gone', 0), thread.missing.value, banner.value.text], [null, null, 'the store cannot answer now']);
  banner.value = null;
});

test('a change is kept, and shown once it is stored', async () => {
  thread.adopt(conversation('c'));
  serve({ 'PATCH /api/conversations/c': ({ body }) => conversation('c', body),
    'GET /api/conversations/c': conversation('c', { title: 'Read again' }) });
  await thread.change({ limit: 5 });
  same(thread.conversation.value.limit, 5);
  await thread.reread();
  same(thread.conversation.value.title, 'Read again');
});
