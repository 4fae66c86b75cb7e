import { conversation, refusal, same, serve, test, when } from './check.js';
import { manifest } from '/assets/state/context.js';
import { banner, toast } from '/assets/state/notices.js';
import { limits } from '/assets/state/offered.js';
import { fields, learn, models, save, sent, stored } from '/assets/state/settings.js';
import * as thread from '/assets/state/thread.js';

const full = { title: 'T', model: 'm', limit: 8000, policy: 'rolling', instructions: 'Be brief.', settings: { recall_scope: 'all', keep: 'project', door: 'window', compaction: { keep_share: 0.3 }, reasoning_effort: 'low', agents: true },
  budget: { tokens_per_day: 5, money_per_day: 0.5, currency: 'EUR' } };

limits.value = { policy_numbers: [{ name: 'keep_share', least: 0, most: 1, whole: false }] };

test('settings are sent as numbers and words, and the context is read again', async () => {
  thread.adopt(conversation('c'));
  const asked = serve({ 'PATCH /api/conversations/c': ({ body }) => conversation('c', body),
    'GET /api/conversations/c/context': { conversation_id: 'c', excluded: [] }, 'GET /api/conversations/c/receipts': { receipts: [] } });
  const was = fields(conversation('c'));
  same(await save('c', { ...was, limit: '8000', policy: 'rolling', instructions: 'Be brief.', numbers: { keep_share: '0.4' }, agents: true }, was), true);
  same([asked[0].body, thread.conversation.value.limit, toast.value.text],
    [{ model: '', limit: 8000, policy: 'rolling', instructions: 'Be brief.', settings: { compaction: { keep_share: 0.4 }, recall_scope: '', agents: true } }, 8000, 'Saved']);
  await when(() => manifest.value, 'the context');
  await save('c', was, was);
  same(thread.conversation.value.limit, 0, 'an empty limit:');
});

test('a refusal, or a number out of bounds, changes nothing', async () => {
  const asked = serve({ 'PATCH /api/conversations/c': refusal(400, 'too small') });
  const f = fields(conversation('c'));
  same([await save('c', { ...f, limit: '1' }, f), banner.value, thread.conversation.value.limit], [false, { text: 'too small' }, 0]);
  same([await save('c', { ...f, numbers: { keep_share: '9' } }, f), asked.length], [false, 1]);
});

test('what a form shows comes back as it was', () => {
  const f = fields(full);
  same([f.limit, f.effort, f.numbers, f.tokens, f.money], ['8000', 'low', { keep_share: '0.3' }, '5', '0.5']);
  same(stored(f, full).body, { title: 'T', instructions: 'Be brief.', model: 'm', policy: 'rolling', limit: 8000,
    settings: { compaction: { keep_share: 0.3 }, recall_scope: 'all', keep: 'project', door: 'window', reasoning_effort: 'low' }, budget: { tokens_per_day: 5, money_per_day: 0.5, currency: 'EUR' } });
  same(sent(f, f).body.settings, { compaction: { keep_share: 0.3 }, recall_scope: 'all' }, 'what was not touched is not sent:');
  const empty = fields({});
  same(stored(empty, {}).body, { title: '', instructions: '', model: '', policy: '', limit: 0, settings: {} });
  same(stored(empty, { settings: { thinking: false, thinking_budget: 7 } }).body.settings, { thinking: false, thinking_budget: 7 }, 'what no form shows stays:');
});

test('models and limits are read; what does not come is not shown', async () => {
  limits.value = null;
  serve({ 'GET /api/models': { models: [{ name: 'm' }] } });
  await learn();
  same([models.value.length, limits.value], [1, null]);
  serve({ 'GET /api/limits': { message_chars: 5 } });
  await learn();
  same([models.value.length, limits.value.message_chars], [1, 5]);
});
