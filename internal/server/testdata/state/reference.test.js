import { is, messages, same, serve, test } from './check.js';
import { close, reading } from '/assets/state/reader.js';
import { chipped, facts, iconOf, open, pictured, referred, sizeOf, troubleOf, typed, withPictures } from '/assets/state/reference.js';
import { zh } from '/assets/state/reference.zh.js';
import { setLang } from '/assets/state/words.js';

const said = (text) => ({ type: 'text', text });
const read = (fields, text = 'content') => ({ type: 'text', text, reference: { mark: 'a.md', source: 'work/a.md', kind: 'file', version: 1, ...fields } });
const image = (name, artifact = name) => ({ type: 'image', name, artifact });

test('what was typed is told from what was read for it', () => {
  const parts = [said('see @[a.md]'), said('two'), read(), image('x.png')];
  same([typed(parts), referred(parts).map((p) => p.reference.mark)], ['see @[a.md]\ntwo', ['a.md']]);
});

test('an image stands in the place of its Markdown, and the others below', () => {
  const mark = (mark, name) => [read({ kind: 'image', mark, source: `work/${name}` }, '[image]'), image(name)];
  const text = 'A ![plan](docs/plan%20b.png) and ![far](https://example.org/far.png), @[photo.png]\n![d](data:image/png;base64,AAAA) ![plan](docs/plan%20b.png)';
  const parts = [said(text), image('pasted.png'), { type: 'file', name: 'a.txt', artifact: 'cd' }, ...mark('![plan](docs/plan%20b.png)', 'plan b.png'),
    ...mark('photo.png', 'photo.png'), ...mark('![d](data:image/png;base64,…)', 'data'),
    read({ kind: 'image', mark: '![far](https://example.org/far.png)', error: 'refused: remote images are not allowed' }, '[image]')];
  const { attached, named, marks } = pictured(parts);
  same([attached.map((p) => p.name), named.map((p) => p.name)], [['pasted.png', 'a.txt'], ['photo.png']]);
  same(withPictures(typed(parts), marks).map((x) => (x.image ? `<${x.image.name}>` : x.text)),
    ['A ', '<plan b.png>', 'and ![far](https://example.org/far.png), @[photo.png]\n', '<data>', '<plan b.png>']);
  same(chipped(parts, marks).map((p) => p.reference.mark), ['photo.png', '![far](https://example.org/far.png)']);
  same([pictured([said('![a](b.png)')]).marks, withPictures('', [])], [[], []]);
});

test('a data URL that was not taken is not written out', () => {
  const parts = [said('see ![d](data:image/png;base64,AAAA) here'), read({ kind: 'image', mark: '![d](data:image/png;base64,…)', error: 'not a data URL' }, '[x]')];
  same(withPictures(typed(parts), pictured(parts).marks), [{ text: 'see ![d](data:image/png;base64,…) here' }]);
});

test('a chip says what was read, or why not', () => {
  same(facts({ version: 2, same_as: 3, note: 'cut' }), ['version 2', 'unchanged', 'cut']);
  same([facts({}), sizeOf({ bytes: 2048 }), sizeOf({})], [[], '2.0 KB', '']);
  same([{ kind: 'file' }, { kind: 'folder' }, { kind: 'image' }, { kind: 'tool' }, { kind: 'file', error: 'x' }].map(iconOf),
    ['page', 'folder', 'picture', 'search', 'warning']);
  const error = 'line 7 is past the end: the file has 3 lines, named in work/a.md';
  same(troubleOf({ error }), error);
  setLang('zh');
  same(['refused: outside the roots', error, 'not readable: permission denied', 'something else'].map((e) => troubleOf({ error: e })),
    ['已拒绝：不在允许的文件夹内', '第 7 行超出末尾：文件共 3 行（由 work/a.md 引用）', '无法读取：没有权限', 'something else']);
  same(facts({ note: 'cut: 10 of 20 entries; its own references are not followed: more than 5 deep' }), ['已截断：10 项，共 20 项；其中的引用超过 5 层，不再读取']);
  setLang('en');
  for (const [like, say] of zh) is(/[\u4e00-\u9fff]/.test(say('a', 'b', 'c')), String(like));
});

test('a chip opens what was read, also where an earlier message has it', async () => {
  const fenced = read({ version: 3 }, '[file work/a.md, version 3]\n````md\n```\ncode\n```\n````');
  await open('c', fenced, [fenced]);
  same(reading.value, { bare: true, title: 'work/a.md · version 3', text: '```\ncode\n```' });
  const asked = serve({ 'GET /api/conversations/c/messages': { messages: messages(4, 4).map((m) => ({ ...m,
    parts: [said('x'), read({ source: 'work/b.md' }, 'no'), read({}, 'as it was'), read({ source: 'work/p.png', kind: 'image' }, '[image]'), image('p.png')] })) } });
  const same4 = (fields) => read({ same_as: 4, ...fields }, 'unchanged');
  await open('c', same4(), [same4()]);
  same([Object.fromEntries(new URLSearchParams(asked[0].query)), reading.value.text], [{ after: '3', limit: '1' }, 'as it was']);
  await open('c', same4({ source: 'work/p.png', kind: 'image' }), []);
  same([reading.value.picture.name, reading.value.conversation], ['p.png', 'c']);
  const long = read({}, 'head … artifact:ab12 … tail');
  await open('c', long, [{ type: 'file', artifact: 'ab12' }, long]);
  same([reading.value.ref, pictured([{ type: 'file', artifact: 'ab12' }, long]).attached], ['artifact:ab12', []]);
  serve({ 'GET /api/conversations/c/messages': { messages: [] } });
  await open('c', same4(), [same4()]);
  same(reading.value.text, 'unchanged');
  close();
});
