import { conversation, message, same, serve, test } from './check.js';
import { begin, panel, searchOpen } from '/assets/state/panels.js';
import { place } from '/assets/state/place.js';
import { reading } from '/assets/state/reader.js';
import { choose, find, near } from '/assets/state/search.js';

const asked = serve({
  'GET /api/search': { hits: [{ conversation_id: 'a', seq: 4 }, { conversation_id: 'b', seq: 9 }], truncated: true },
  'GET /api/conversations/c/grep': { matches: [{ seq: 2, line: 1 }], total: 3, partial: false },
  'GET /api/conversations/a': conversation('a'), // b is gone
});
const fields = (r) => Object.fromEntries(new URLSearchParams(r.query));

test('words are found everywhere, or here', async () => {
  const out = await find({ mode: 'everywhere', text: ' depot ', match: true }, 'c');
  same([out.rows.map((r) => [r.kind, r.h.seq, r.title]), out.note], [[['hit', 4, 'The a'], ['hit', 9, 'b']], 'First 2 hits']);
  await find({ mode: 'here', text: 'x' }, 'c');
  same([fields(asked[0]), fields(asked.at(-1))],
    [{ q: 'depot', limit: '20', around: '1' }, { q: 'x', conversation: 'c', limit: '20', around: '1' }]);
});

test('lines are found by a pattern as it was typed', async () => {
  const out = await find({ mode: 'lines', text: ' TODO', match: true }, 'c');
  same([out.rows, out.note], [[{ kind: 'line', m: { seq: 2, line: 1 } }], 'First 1 of 3 lines']);
  same(fields(asked.at(-1)), { pattern: ' TODO', max_results: '50', case_sensitive: 'true' });
});

test('a choice goes to its message, or opens what has no message here', () => {
  begin(390);
  for (const [row, at, shown] of [
    [{ kind: 'hit', h: { on_path: true, conversation_id: 'a', seq: 4 } }, ['a', 4], null],
    [{ kind: 'line', m: { seq: 7, line: 3 } }, ['c', 7], null],
    [{ kind: 'line', m: { ref: 'history:1', line: 3 } }, [null, 0], { conversation: 'c', ref: 'history:1', title: '', line: 3 }],
    [{ kind: 'hit', title: 'T', h: { on_path: false, seq: 9, content: 'text' } }, [null, 0], { title: 'T · #9', text: 'text' }],
  ]) {
    place.value = { id: null, seq: 0 };
    reading.value = null;
    searchOpen.value = true;
    panel.value = 'receipts';
    choose(row, 'c');
    same([[place.value.id, place.value.seq], reading.value, searchOpen.value, panel.value], [at, shown, false, null]);
  }
});

test('a neighbour is shown by its text', () => same([near([message(1)]), near([]), near(undefined)], ['m1', '', '']));
