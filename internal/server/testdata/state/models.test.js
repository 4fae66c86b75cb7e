import { conversation, refusal, same, serve, test } from './check.js';
import { manifest } from '/assets/state/context.js';
import { begin, fresh } from '/assets/state/fresh.js';
import * as models from '/assets/state/models.js';
import * as thread from '/assets/state/thread.js';
import { lang } from '/assets/state/words.js';

const list = [{ name: 'offline', offline: true, here: true, default: true, limit: 8192, efforts: [] },
  { name: 'ollama/qwen3:32b', provider: 'ollama', here: true, limit: 32768, efforts: ['low', 'high'] },
  { name: 'openai/large', provider: 'openai', limit: 200000, price: { input: 3, output: 15, currency: 'USD' } },
  { name: 'openai/small', provider: 'openai', limit: 1048576, price: { input: 0.3, output: 1.2, currency: 'USD' } }, { name: 'far/new', provider: 'far', limit: 128000 }];

test('the model in use is the conversation’s, its project’s, or the default', async () => {
  serve({ 'GET /api/models': { models: list } });
  await models.learn();
  same(models.current.value.name, 'offline', 'the default:');
  begin({ model: 'openai/large' });
  same(models.current.value.name, 'openai/large', 'the next conversation’s:');
  thread.adopt(conversation('c'));
  manifest.value = { conversation_id: 'other', model: 'openai/small', excluded: [] };
  same(models.current.value.name, 'offline', 'nothing is known of this one:');
  manifest.value = { conversation_id: 'c', model: 'openai/small', excluded: [] };
  same(models.current.value.name, 'openai/small', 'the project’s:');
  thread.adopt(conversation('c', { model: 'odd/one' }));
  same(models.current.value, { name: 'odd/one' }, 'one that is not listed:');
});

test('choosing sets the open conversation, or the next one', async () => {
  const asked = serve({ 'PATCH /api/conversations/c': conversation('c', { model: 'openai/large' }), 'GET /api/conversations/c/context': { conversation_id: 'c', excluded: [] },
    'GET /api/conversations/c/receipts': { receipts: [] } });
  await models.choose('openai/large');
  same([asked[0].body, models.current.value.name, asked.some((r) => r.at === 'GET /api/conversations/c/context')], [{ model: 'openai/large' }, 'openai/large', true]);
  const before = asked.length;
  await models.choose('openai/large');
  same(asked.length, before, 'the same again:');
  thread.close();
  await models.choose('ollama/qwen3:32b');
  same(fresh.value, { model: 'ollama/qwen3:32b' });
});

test('models are found by their words, and said as people say them', () => {
  same(models.find('open SMALL').map((m) => m.name), ['openai/small']);
  same(models.find('').length, 5);
  same(list.map((m) => [models.called(m), models.from(m), models.span(m.limit), models.price(m)]), [
    ['offline', 'built in', '8k', 'no cost'], ['qwen3:32b', 'ollama · here', '32k', 'no cost'], ['large', 'openai', '200k', '$3 in · $15 out'],
    ['small', 'openai', '1M', '$0.30 in · $1.20 out'], ['new', 'far', '128k', '']]);
  lang.value = 'zh';
  same([models.price(list[2]), models.from(list[0])], ['输入 $3 · 输出 $15', '内置']);
  lang.value = 'en';
  same(models.price({ price: { input: 1, output: 2, currency: 'credits' } }), '1 credits in · 2 credits out');
});

test('where nothing is listed nothing can be chosen', async () => {
  serve({ 'GET /api/models': refusal(403, 'no') });
  await models.learn();
  same(models.models.value, []);
});
