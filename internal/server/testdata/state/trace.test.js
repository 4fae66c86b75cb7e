import { same, test } from './check.js';
import { manifest } from '/assets/state/context.js';
import * as trace from '/assets/state/trace.js';

const call = (name, args, id = 'c1') => ({ type: 'tool_call', id, name, arguments: args });
const result = (text, more) => ({ type: 'tool_result', call_id: 'c1', name: 'context_search', text: typeof text === 'string' ? text : JSON.stringify(text), ...more });

test('a look-up says what it searched and what it found', () => {
  const found = trace.traceOf(call('context_search', { query: 'station 7' }), result({ hits: [{ seq: 1204, role: 'user', date: '2026-05-12', content: 'Station 7 moved' },
    { seq: 9, role: 'user', content: 'x', conversation_id: 'other' }], truncated: true }));
  same([found.kind, found.asked, found.total, found.more, found.hits[0].seq, found.hits[0].date, found.hits[1].conversation, found.waiting],
    ['search', 'station 7', 2, true, 1204, '2026-05-12', 'other', false]);
  const lines = trace.traceOf(call('context_grep', '{"pattern":"kg"}'), result({ total: 40, matches: [{ ref: 'history:a', line: 3, content: ' 7 kg ' }, { ref: null, seq: 12, line: 1, content: '8 kg' }] }));
  same([lines.asked, lines.total, lines.hits.map((h) => [h.seq, h.ref, h.line, h.text])], ['kg', 40, [[0, 'history:a', 3, '7 kg'], [12, null, 1, '8 kg']]]);
  const listed = trace.traceOf(call('context_list', {}), result({ refs: ['history:abc #1–#20 The tides'], next: 'x' }));
  same([listed.hits[0].ref, listed.hits[0].text, listed.more], ['history:abc', '#1–#20 The tides', true]);
  const read = trace.traceOf(call('context_read', { ref: 'history:a' }), result({ ref: 'history:a', content: 'the words', bytes: 9, done: true }));
  same([read.kind, read.ref, read.text, read.hits], ['read', 'history:a', 'the words', []]);
});

test('what cannot be read as a result is shown as it came', () => {
  same(trace.traceOf(call('context_search', 'nonsense'), undefined).waiting, true);
  same([trace.traceOf(call('context_search', {}), result('no JSON')).hits, trace.traceOf(call('context_search', {}), result('{"x":1}')).hits], [null, null]);
  const failed = trace.traceOf(call('context_read', { ref: 'x' }), result('there is no x', { is_error: true }));
  same([failed.hits, failed.error], [null, 'there is no x']);
  same([trace.recalls('context_search'), trace.recalls('constructor'), trace.recalls(undefined)], [true, false, false]);
});

test('words of a search are marked where words begin, Chinese by its pairs', () => {
  same(trace.terms('station "datum correction" role:user a 潮位站 7'), ['station', 'datum correction', 'a', '潮位站', '潮位', '位站', '7']);
  const text = 'Station 7 moved; the gas station too';
  same(trace.spans(text, ['station']).map(([a, b]) => text.slice(a, b)), ['Station', 'station']);
  same([trace.spans('substation', ['station']), trace.spans('77 and 7.4', ['7'])], [[], [[7, 8]]]);
  same(trace.spans('at station 7 now', ['7', 'station']), [[3, 12]], 'neighbours are one:');
  same(trace.spans('旧潮位站的', ['潮位站', '潮位', '位站']), [[1, 4]]);
  same(trace.snippet('a station', [[2, 9]]), [{ mark: false, text: 'a ' }, { mark: true, text: 'station' }]);
  const long = trace.snippet(`${'word '.repeat(30)}station${' more'.repeat(100)}`, [[150, 157]]);
  same([long[0].text, long.find((p) => p.mark).text, long[long.length - 1].text.endsWith('…')], ['…', 'station', true]);
  same([trace.pattern('7 kg, 8 KG', 'kg').length, trace.pattern('x', '(?P<a>x'), trace.pattern('aaa', 'b*')], [2, [], []]);
});

test('a card stands for what is compacted, and look-ups count it', () => {
  manifest.value = { excluded: [{ first_seq: 1, last_seq: 100, ref: 'history:a' }, { first_seq: 101, last_seq: 150, ref: 'history:b' }, { first_seq: 170, last_seq: 170 }] };
  same([1, 100, 150, 151, 170].map(trace.within), [true, true, true, false, false]);
  same([trace.compactedBefore(200), trace.compactedBefore(121), trace.compactedBefore(1)], [150, 120, 0]);
});

test('a result stands with its call; one without its call stays a message', () => {
  const a = { seq: 2, role: 'assistant', turn_id: 't', parts: [call('context_search', {}), call('shell', {}, 'c2')] };
  const b = { seq: 3, role: 'tool', turn_id: 't', parts: [result('{}')] };
  const c = { seq: 4, role: 'tool', turn_id: 't', parts: [{ type: 'tool_result', call_id: 'c2', name: 'shell', text: '' }] };
  const lost = { seq: 1, role: 'tool', turn_id: 's', parts: [result('{}')] };
  const found = trace.resultsOf([lost, a, b, c]);
  same([found.of(a).c1.seq, found.key(a), found.of(b), [...trace.shownElsewhere([lost, a, b, c], found)]], [3, 'c1', {}, [3]]);
});
