import { same, serve, test } from './check.js';
import { atLine, close, more, none, read, reading } from '/assets/state/reader.js';

test('a text is cut at a line', () => {
  same([atLine('a\nb\nc', 1), atLine('a\nb\nc', 2), atLine('a\nb\nc', 3), atLine('a\nb\nc', 4)],
    [['', 'a', '\nb\nc'], ['a\n', 'b', '\nc'], ['a\nb\n', 'c', ''], null]);
});

test('an original is read page by page, or as far as the line that is looked for', async () => {
  const pages = { '': ['a\nb\n', 4], 4: ['c\nd\n', 8], 8: ['e\n', 10] };
  const asked = serve({ 'GET /api/conversations/c/refs/history%3A1': ({ query }) => {
    const [content, next] = pages[new URLSearchParams(query).get('offset') || ''];
    return { content, next_offset: next, bytes: 10, done: next === 10 };
  } });
  const here = () => false;
  const one = await more(none, { conversation: 'c', ref: 'history:1' }, here);
  same([one, asked.length], [{ text: 'a\nb\n', next: 4, bytes: 10, done: false, asked: true }, 1]);
  same((await more(one, { conversation: 'c', ref: 'history:1' }, here)).text, 'a\nb\nc\nd\n');
  same((await more(none, { conversation: 'c', ref: 'history:1', line: 4 }, here)).text, 'a\nb\nc\nd\n');
  same((await more(none, { conversation: 'c', ref: 'history:1', line: 99 }, here)).done, true, 'a line that is not there:');
  same(await more(none, { conversation: 'c', ref: 'history:1' }, () => true), null, 'nobody reads any more:');
});

test('the reader opens and closes', () => {
  read('c', 'history:1', '#1–#9', 7);
  same(reading.value, { conversation: 'c', ref: 'history:1', title: '#1–#9', line: 7 });
  close();
  same(reading.value, null);
});
