import { conversation, is, same, serve, test, when } from './check.js';
import { list } from '/assets/state/conversations.js';
import { register } from '/assets/state/palette.js';
import { searchOpen } from '/assets/state/panels.js';
import * as search from '/assets/state/search.js';
import * as thread from '/assets/state/thread.js';

const hit = (n, of = 'a') => ({ conversation_id: of, seq: n, message_id: of + n, role: 'user', on_path: true, snippet: 'x', spans: [] });
const all = Array.from({ length: 45 }, (_, i) => hit(i + 1, i % 9 ? 'a' : 'b'));
let broken = null;
const asked = serve({
  'GET /api/search': ({ query }) => {
    if (broken) return broken();
    const from = Number(new URLSearchParams(query).get('offset')) || 0;
    const next = from + 20 < all.length ? from + 20 : null;
    return { hits: all.slice(from, from + 20), total: all.length, conversations: 2, next };
  },
  'GET /api/conversations': ({ query }) => ({ conversations: [conversation('t' + new URLSearchParams(query).get('limit'))], next: null }),
  'GET /api/conversations/c/grep': { matches: [{ seq: 2, line: 1 }], total: 3, partial: false },
  'GET /api/conversations/a': conversation('a'), // b is gone
});
const fields = (r) => Object.fromEntries(new URLSearchParams(r.query));
const searches = () => asked.filter((r) => r.at === 'GET /api/search').map(fields);
const kinds = () => search.rows.value.map((r) => r.kind);

test('messages are found everywhere, under the conversations with that title', async () => {
  search.text.value = ' depot ';
  await search.find();
  same([kinds().slice(0, 3), search.rows.value.length, search.rows.value[1].title, search.rows.value[2].title], [['conversation', 'hit', 'hit'], 21, 'b', 'The a']);
  same([search.count.value, search.next.value], [{ kind: 'messages', total: 45, conversations: 2, truncated: false }, 20]);
  same(searches().at(-1), { q: 'depot', tz: 'UTC', limit: '20', around: '2' });
});

test('the next pages are added once each, until there is none', async () => {
  const n = searches().length;
  await Promise.all([search.more(), search.more()]);
  same([searches().length - n, search.rows.value.length, search.next.value], [1, 41, 40]);
  await search.more();
  await search.more();
  same([search.rows.value.length, search.next.value, searches().length - n], [46, null, 2]);
});

test('arrows go round, and past the last row only once all pages are there', async () => {
  search.at.value = 45;
  search.step(1);
  same(search.at.value, 0);
  search.step(-1);
  same([search.at.value, search.chosen.value.h.seq], [45, 45]);
  await search.find();
  search.at.value = 20;
  search.step(1);
  same(search.at.value, 20);
  await when(() => search.rows.value.length === 41, 'the next page');
});

test('filters narrow what is asked, and leave titles out', async () => {
  search.narrow({ project: 'harbour', from: 5, to: 9, when: '2026' });
  await search.find();
  same([searches().at(-1), kinds()[0]], [{ q: 'depot', project: 'harbour', from: '5', to: '9', tz: 'UTC', limit: '20', around: '2' }, 'hit']);
  search.narrow({ project: '', from: 0, to: 0, when: '' });
  same(search.only.value === search.nothing, true);
});

test('a conversation that is open can be searched alone, or by lines', async () => {
  same([search.mode.value, (search.turn('lines'), search.mode.value)], ['everywhere', 'everywhere']);
  thread.adopt(conversation('c'));
  same(search.mode.value, 'lines');
  search.text.value = ' TODO';
  search.match.value = true;
  await search.find();
  same([search.rows.value, search.count.value], [[{ kind: 'line', m: { seq: 2, line: 1 } }], { kind: 'lines', shown: 1, total: 3, partial: false }]);
  same(fields(asked.at(-1)), { pattern: ' TODO', max_results: '100', case_sensitive: 'true' });
  search.turn('here');
  search.narrow({ project: 'harbour' });
  await search.find();
  same([searches().at(-1).conversation, searches().at(-1).project], ['c', undefined]);
  search.narrow({ project: '' });
});

test('a text after > is a command, or a title', async () => {
  const off = register([{ name: 'one', words: () => 'Do one', run() {} }]);
  search.turn('commands');
  same([search.text.value, search.mode.value, search.wanted.value], ['>TODO'.replace('>', '> '), 'commands', 'TODO']);
  search.text.value = '>one';
  await search.find();
  same([kinds(), search.rows.value[0].label], [['command', 'conversation'], 'Do one']);
  search.text.value = '>';
  await search.find();
  same(kinds(), ['command']);
  off();
  search.turn('everywhere');
  same([search.text.value, search.mode.value], ['', 'everywhere']);
});

test('without words the newest conversations are offered', async () => {
  list.value = Array.from({ length: 12 }, (_, i) => conversation('n' + i));
  search.text.value = '  ';
  await search.find();
  same([search.rows.value.length, kinds()[0], search.count.value], [8, 'conversation', null]);
});

test('what went wrong is said, and what was given up says nothing', async () => {
  search.text.value = 'x';
  broken = () => Response.json({ error: { code: 'invalid', message: 'no such word' } }, { status: 400 });
  await search.find();
  same([search.fault.value, search.rows.value], ['no such word', []]);
  broken = () => { throw new TypeError('offline'); };
  await search.find();
  same(search.fault.value, 'The server is not responding.');
  broken = null;
  const late = search.find();
  search.text.value = '';
  await search.find();
  await late;
  same([search.fault.value, search.rows.value.length], ['', 8]);
});

test('while it is open, a change is searched for after a moment', async () => {
  searchOpen.value = true;
  const n = searches().length;
  const end = search.follow(1);
  search.text.value = 'q1';
  search.text.value = 'q2';
  await when(() => search.rows.value.some((r) => r.kind === 'hit'), 'the hits');
  end();
  search.text.value = 'q3';
  is(searches().slice(n).every((f) => f.q === 'q2'), JSON.stringify(searches().slice(n)));
  search.close();
  same(searchOpen.value, false);
});
