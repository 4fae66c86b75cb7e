import { conversation, refusal, same, serve, test, when } from './check.js';
import { manifest } from '/assets/state/context.js';
import { banner, toast } from '/assets/state/notices.js';
import { policies, policyName, save } from '/assets/state/settings.js';
import * as thread from '/assets/state/thread.js';

test('settings are sent as numbers and words, and the context is read again', async () => {
  thread.adopt(conversation('c'));
  const asked = serve({ 'PATCH /api/conversations/c': ({ body }) => conversation('c', body),
    'GET /api/conversations/c/context': { conversation_id: 'c', excluded: [] }, 'GET /api/conversations/c/receipts': { receipts: [] } });
  same(await save('c', { limit: '8000', policy: 'rolling', instructions: 'Be brief.' }), true);
  same([asked[0].body, thread.conversation.value.limit, toast.value.text],
    [{ limit: 8000, policy: 'rolling', instructions: 'Be brief.' }, 8000, 'Saved']);
  await when(() => manifest.value, 'the context');
  await save('c', { limit: '', policy: '', instructions: '' });
  same(thread.conversation.value.limit, 0, 'an empty limit:');
});

test('a refusal is shown, and nothing is changed', async () => {
  serve({ 'PATCH /api/conversations/c': refusal(400, 'too small') });
  same([await save('c', { limit: '1', policy: '', instructions: '' }), banner.value, thread.conversation.value.limit],
    [false, { text: 'too small' }, 0]);
});

test('policies have names', () => same(policies.map(policyName), ['default', 'automatic', 'snapshot', 'rolling', 'segments']));
