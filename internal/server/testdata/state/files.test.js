import { conversation, is, refusal, same, serve, test, when } from './check.js';
import * as files from '/assets/state/files.js';
import * as thread from '/assets/state/thread.js';

const at = 'GET /api/conversations/c/files';
const list = (...paths) => ({ files: paths.map((path) => ({ path, folder: path.endsWith('/') })) });
const here = (fields) => { files.close(); thread.adopt(conversation('c', { roots: ['/work'], ...fields })); };

// found looks at a text with | at the caret, and returns the mark in it as text.
function found(text) {
  const caret = text.indexOf('|');
  const m = files.markAt(text.replace('|', ''), caret);
  return m && [text.replace('|', '').slice(m.from, m.to), m.path];
}

test('a mark is found where one is being written', () => {
  const cases = {
    '@|': ['@', ''], 'see @do|': ['@do', 'do'], '看@文|': ['@文', '文'], '（@a/b|': ['@a/b', 'a/b'], 'see @[|': ['@[', ''],
    '@[my notes/a b|': ['@[my notes/a b', 'my notes/a b'], '@[a[1]/x|': ['@[a[1]/x', 'a[1]/x'], '@[docs/|]': ['@[docs/]', 'docs/'],
    '@[do|cs/guide.md] and': ['@[docs/guide.md]', 'do'], 'one @[a.md] two @[b|': ['@[b', 'b'], '@[a.md] @b|': ['@b', 'b'],
    'a@b|': null, 'mail ann@example.org|': null, '@[a.md]|': null, '@ a|': null, '@[ |': null, 'a|': null, '@[a\nb|': null, '|@a': null,
    '@[context_search{"query":"x|': null, '@@|': null, '@a b|': null,
  };
  for (const [text, want] of Object.entries(cases)) same(found(text), want, text);
});

test('paths are offered once the keys rest, and the newest request alone counts', async () => {
  here();
  const wait = [];
  const asked = serve({ [at]: (r) => new Promise((ok) => { wait.push([r, ok]); }) });
  files.look('@d', 2);
  files.look('@do', 3);
  await new Promise((ok) => setTimeout(ok, 200));
  same(asked.map((r) => Object.fromEntries(new URLSearchParams(r.query))), [{ prefix: 'do', limit: '30' }]);
  files.look('@doc', 4);
  is(wait[0][0].signal.aborted, 'the earlier request goes on');
  await new Promise((ok) => setTimeout(ok, 200));
  wait[1][1](list('docs/', 'doc.md'));
  await when(() => files.offers.value, 'the list');
  wait[0][1](list('late.md'));
  await Promise.resolve();
  same([files.offers.value.files.map((f) => f.path), files.offers.value.at], [['docs/', 'doc.md'], 0]);
});

test('a path is taken in brackets, and a folder is completed further', async () => {
  here();
  serve({ [at]: ({ query }) => (query.includes('%2F') ? list('docs/a b.md', 'docs/二.md') : list('docs/', 'doc.md')) });
  files.look('see @do now', 7);
  await when(() => files.offers.value, 'the list');
  files.move(1);
  same(files.offers.value.at, 1);
  files.move(1);
  same(files.offers.value.at, 0);
  files.move(-1);
  files.move(1);
  const folder = files.take('see @do now');
  same([folder, files.offers.value], [{ text: 'see @[docs/] now', at: 11 }, null]);
  files.look(folder.text, folder.at);
  await when(() => files.offers.value, 'what the folder holds');
  same(files.take(folder.text, 1), { text: 'see @[docs/二.md] now', at: 16 });
  same([files.leave('@[docs/] now', 7), files.leave('@[docs/x] now', 8), files.leave('a', 1)], [8, 8, 1]);
});

test('the list closes where nothing matches, and by hand until another mark', async () => {
  here();
  const asked = serve({ [at]: ({ query }) => (query.includes('prefix=x') ? list() : query.includes('prefix=b') ? refusal(500, 'no') : list('a.md')) });
  const look = async (text) => { files.look(text, text.length); await new Promise((ok) => setTimeout(ok, 200)); };
  await look('@a');
  is(files.offers.value, 'no list');
  await look('@x');
  same(files.offers.value, null, 'nothing matches:');
  await look('@a');
  await look('@b');
  same(files.offers.value, null, 'the server fails:');
  await look('@a');
  files.close(true);
  const before = asked.length;
  await look('@a.');
  same([files.offers.value, asked.length], [null, before], 'closed by hand:');
  await look('@a. @a');
  is(files.offers.value, 'another mark has no list');
  await look('@a. then');
  same(files.offers.value, null, 'past the mark:');
  await look('@a.md');
  same(files.offers.value, null, 'written out:');
});

test('without folders nothing is asked', async () => {
  const asked = serve({});
  for (const fields of [{ roots: [] }, { roots: undefined }]) {
    here(fields);
    files.look('@a', 2);
  }
  thread.close();
  files.look('@a', 2);
  await new Promise((ok) => setTimeout(ok, 200));
  same([asked.length, files.offers.value], [0, null]);
});
