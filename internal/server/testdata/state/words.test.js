import { is, same, test } from './check.js';
import * as memory from '/assets/state/memory.js';
import { areas, begin, lang, setLang, t } from '/assets/state/words.js';

const held = {};
memory.use({ getItem: (k) => held[k] ?? null, setItem: (k, v) => { held[k] = v; }, removeItem: (k) => { delete held[k]; } });
const all = (l) => Object.assign({}, ...Object.values(areas).map((a) => a[l]));
const [en, zh] = [all('en'), all('zh')];
const every = (table) => Object.entries(table).map(([key, w]) => [key, typeof w === 'function' ? w(2, 3, true) : w]);

test('the language is the one chosen, or else the one preferred', () => {
  for (const [kept, languages, want] of [[null, ['zh-CN', 'en'], 'zh'], [null, ['de', 'zh'], 'en'], [null, [], 'en'],
    ['en', ['zh-TW'], 'en'], ['zh', ['en'], 'zh'], ['constructor', ['en'], 'en']]) {
    held['scrollback.lang'] = kept;
    begin(languages);
    same(lang.value, want, `${kept} ${languages}:`);
  }
  setLang('zh');
  same([lang.value, held['scrollback.lang'], t('send')], ['zh', 'zh', '发送']);
});

test('both languages have every text', () => {
  for (const [name, a] of Object.entries(areas)) same(Object.keys(a.zh).sort(), Object.keys(a.en).sort(), name);
});

test('no text is in two areas', () => {
  const keys = Object.values(areas).flatMap((a) => Object.keys(a.en));
  same(keys.filter((k, i) => keys.indexOf(k) !== i), []);
});

test('words are filled in; one that nobody has is shown as its key', () => {
  setLang('en');
  same([t('messages', 1), t('messages', 2000), t('nonsense')], ['1 message', '2,000 messages', 'nonsense']);
  same([t('matches', 1, 1, false), t('matches', 50, 120, true)], ['1 line', 'First 50 of 120 lines; not everything could be searched']);
});

test('for people the word is compact', () => {
  for (const [key, text] of every(en)) is(!/\bfold(?!er)|\banew\b/i.test(text), `${key} says ${text}`);
  for (const [key, text] of every(zh)) is(!/折叠/.test(text), `${key} says ${text}`);
});

test('what came of a compaction is a sentence', () => {
  for (const result of ['noop', 'inflated', 'empty_summary', 'model_error', 'conflict']) {
    is(/^[A-Z].* .*\.$/.test(en['compaction.' + result]), `${result}: ${en['compaction.' + result]}`);
    is(/^[\u4e00-\u9fff].*。$/.test(zh['compaction.' + result]), `${result}: ${zh['compaction.' + result]}`);
  }
});

test('Chinese has the punctuation of Chinese', () => {
  for (const [key, text] of every(zh)) is(!/[\u4e00-\u9fff][,;:!?()]|[,;:!?()][\u4e00-\u9fff]|[\u4e00-\u9fff]\./.test(text),
    `${key} says ${text}`);
});
