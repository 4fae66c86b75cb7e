import { conversation, message, same, serve, test, when } from './check.js';
import { choose, fork, link, near, pin, pinnable, wordsOf } from '/assets/state/found.js';
import { marks } from '/assets/state/marks.js';
import { toast } from '/assets/state/notices.js';
import { begin, panel, searchOpen } from '/assets/state/panels.js';
import { place } from '/assets/state/place.js';
import { reading } from '/assets/state/reader.js';
import { at, find, rows, text } from '/assets/state/search.js';
import { adopt } from '/assets/state/thread.js';

const hit = (seq, more) => ({ conversation_id: 'a', seq, message_id: 'i' + seq, role: 'user', on_path: true, snippet: 'The datum', spans: [[4, 9]], ...more });
let pins = [4];
let titles = () => ({ conversations: [], next: null });
const asked = serve({
  'GET /api/search': ({ query }) => (new URLSearchParams(query).get('offset') === '0' || !query.includes('offset') ? { hits: [hit(9), hit(3, { snippet: 'datums', spans: [[0, 6]] })], next: 2 } : { hits: [hit(7, { on_path: false })], next: null }),
  'GET /api/conversations/a': () => conversation('a', { pinned_seqs: pins }),
  'PATCH /api/conversations/a': ({ body }) => { pins = body.pinned_seqs; return conversation('a', { pinned_seqs: pins }); },
  'POST /api/conversations/a/fork': ({ body }) => conversation('f', { title: body.title }),
  'GET /api/conversations': () => titles(),
});
adopt(conversation('c'));

test('a choice goes to its message, or opens what has no message here', () => {
  begin(390);
  const ran = [];
  for (const [row, at, shown] of [
    [{ kind: 'line', m: { seq: 7, line: 3 } }, ['c', 7], null],
    [{ kind: 'line', m: { ref: 'history:1', line: 3 } }, [null, 0], { conversation: 'c', ref: 'history:1', title: '', line: 3 }],
    [{ kind: 'hit', title: 'T', h: hit(9, { on_path: false, content: 'text' }) }, [null, 0], { title: 'T · #9', text: 'text' }],
    [{ kind: 'conversation', c: { id: 'z' } }, ['z', 0], null],
  ]) {
    place.value = { id: null, seq: 0 };
    reading.value = null;
    searchOpen.value = true;
    panel.value = 'receipts';
    rows.value = [row];
    choose(row);
    same([[place.value.id, place.value.seq], reading.value, searchOpen.value, panel.value], [at, shown, false, null]);
  }
  same(marks.value, { conversation: 'c', words: [], seqs: [7] });
  text.value = '>run';
  choose({ kind: 'command', c: { run: () => ran.push(1) } });
  same([ran, text.value], [[1], '']);
});

test('a command that asks is run once it is meant', () => {
  const ran = [];
  const row = { kind: 'command', label: 'Start afresh', c: { sure: 'confirmAfresh', run: () => ran.push(1) } };
  searchOpen.value = true;
  rows.value = [row];
  choose(row);
  same([ran, searchOpen.value, rows.value.map((r) => r.label), at.value], [[], true, ['Start afresh', 'Cancel'], 1]);
  choose(rows.value[0]);
  same([ran, searchOpen.value], [[1], false]);
});

test('a search that is still under way does not take the place of the question', async () => {
  let answer;
  const late = new Promise((resolve) => { answer = () => resolve({ conversations: [], next: null }); });
  titles = () => late;
  text.value = '>afresh';
  const found = find();
  const row = { kind: 'command', label: 'Start afresh', c: { sure: 'confirmAfresh', run() {} } };
  rows.value = [row];
  choose(row);
  answer();
  await found;
  same(rows.value.map((r) => r.label), ['Start afresh', 'Cancel']);
});

test('after the jump all that was found in the conversation is marked, of every page', async () => {
  text.value = 'datum';
  rows.value = [{ kind: 'hit', title: 'A', h: hit(9) }];
  choose(rows.value[0]);
  same([place.value.id, place.value.seq, marks.value], ['a', 9, { conversation: 'a', words: ['datum'], seqs: [9] }]);
  await when(() => marks.value.seqs.length > 1, 'the rest');
  same(marks.value, { conversation: 'a', words: ['datum', 'datums'], seqs: [3, 9] });
  same(asked.filter((r) => r.at === 'GET /api/search').map((r) => new URLSearchParams(r.query).get('conversation')), ['a', 'a']);
});

test('what has an address can be opened in another tab', () => {
  same([link({ kind: 'hit', h: hit(4) }), link({ kind: 'hit', h: hit(4, { on_path: false }) }), link({ kind: 'line', m: { seq: 2 } }), link({ kind: 'line', m: {} }), link({ kind: 'conversation', c: { id: 'z' } }), link({ kind: 'command' })],
    ['#a/4', '', '#c/2', '', '#z', '']);
});

test('a hit is pinned from afar, and unpinned', async () => {
  rows.value = [{ kind: 'hit', title: 'A', h: hit(9) }];
  await pin(rows.value[0].h);
  same([pins, rows.value[0].h.pinned, toast.value.text], [[4, 9], true, 'Pinned #9']);
  await pin(rows.value[0].h);
  same([pins, rows.value[0].h.pinned, toast.value.text], [[4], false, 'Unpinned #9']);
  same([hit(1), hit(1, { role: 'tool' }), hit(1, { on_path: false })].map(pinnable), [true, false, false]);
});

test('a fork goes on from a hit', async () => {
  await fork({ title: 'copy of A', h: hit(9) });
  same([asked.find((r) => r.at.endsWith('/fork')).body, place.value.id], [{ seq: 9, title: 'copy of A' }, 'f']);
});

test('words are those that matched; a neighbour is what it says, or holds', () => {
  same(wordsOf(hit(1, { snippet: 'Datum datum Report', spans: [[0, 5], [6, 11], [12, 18]] })), ['datum', 'report']);
  same([near(message(1)), near({ parts: [{ type: 'tool_result', name: 'grep', text: 'found' }] }), near({ parts: [{ type: 'tool_call', name: 'grep', arguments: { a: 1 } }] })], ['m1', 'found', 'grep {"a":1}']);
});
