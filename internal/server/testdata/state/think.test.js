import { conversation, same, serve, test } from './check.js';
import { fresh } from '/assets/state/fresh.js';
import { models } from '/assets/state/models.js';
import { choices, choose, effort, named } from '/assets/state/think.js';
import * as thread from '/assets/state/thread.js';
import { lang } from '/assets/state/words.js';

test('efforts are those of the model in use', () => {
  same(choices.value, []);
  models.value = [{ name: 'offline', default: true, efforts: [] }, { name: 'a/b', efforts: ['none', 'low', 'max'] }];
  same(choices.value, [], 'one that does not think:');
  thread.adopt(conversation('c', { model: 'a/b', settings: {} }));
  same(choices.value, ['', 'none', 'low', 'max']);
  thread.adopt(conversation('c', { model: 'a/unlisted' }));
  same(choices.value, ['', 'none', 'low', 'medium', 'high']);
});

test('the conversation keeps what was chosen, and so does the next one', async () => {
  for (const [settings, want] of [[{ reasoning_effort: 'low' }, 'low'], [{ thinking: false }, 'none'], [{ thinking: true }, ''], [undefined, '']]) {
    thread.adopt(conversation('c', { model: 'a/b', settings }));
    same(effort.value, want);
  }
  const asked = serve({ 'PATCH /api/conversations/c': conversation('c', { settings: { reasoning_effort: 'max' } }) });
  await choose('max');
  same([asked[0].body, effort.value], [{ settings: { reasoning_effort: 'max' } }, 'max']);
  thread.close();
  await choose('low');
  same([fresh.value, effort.value], [{ settings: { reasoning_effort: 'low' } }, 'low']);
  await choose('');
  same([fresh.value, effort.value], [{}, '']);
});

test('each effort has words in both languages', () => {
  for (const l of ['en', 'zh']) {
    lang.value = l;
    for (const e of ['', 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']) same(named(e).startsWith('composer.'), false, e);
  }
  lang.value = 'en';
});
