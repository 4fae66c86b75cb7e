import { conversation, is, refusal, same, serve, test, when } from './check.js';
import { text } from '/assets/state/draft.js';
import * as model from '/assets/state/model.js';
import * as sees from '/assets/state/sees.js';
import * as thread from '/assets/state/thread.js';

const items = [{ kind: 'placeholder', seq: 1, last_seq: 8, ref: 'history:a', tokens: 3, parts: [] }, { kind: 'message', seq: 9, tokens: 1, parts: [{ type: 'text', text: 'hi' }] }];
const manifest = (fields) => ({ model: 'm', tokens: 4, bytes: 9, items, ...fields });

test('without a draft the next request is read, and with one it is previewed after a pause', async () => {
  const asked = serve({ 'GET /api/conversations/x/context': manifest(), 'POST /api/conversations/x/context': ({ body }) => manifest({ tokens: 7, draft: 3,
    items: [...items, { kind: 'message', draft: true, tokens: 3, parts: [{ type: 'text', text: body.message }] }] }) });
  thread.conversation.value = conversation('x', { messages: 9 });
  sees.look('model');
  const stop = model.follow();
  await when(() => model.request.value && model.request.value.manifest.tokens === 4, 'the next request');
  same(asked.map((a) => [a.at, a.query]), [['GET /api/conversations/x/context', 'content=true']]);
  text.value = 'd';
  text.value = 'dr';
  await when(() => model.request.value.manifest.tokens === 7, 'the preview');
  same([asked.length, asked[1].body.message, asked[1].body.content], [2, 'dr', true]);
  same(model.blocks.value.map((b) => b.kind), ['compacted', 'messages', 'draft']);
  same([model.where(3).ref, model.where(9).seq, model.where(99)], ['history:a', 9, null]);
  const copied = JSON.parse(model.asJSON());
  same([copied.conversation_id, copied.model, copied.items.length, copied.items[2].parts[0].text], ['x', 'm', 3, 'dr']);
  text.value = '';
  stop();
});

test('a past turn has its steps, and each its items', async () => {
  const asked = serve({ 'GET /api/conversations/x/turns/t1/context': ({ query }) => {
    const n = Number(new URLSearchParams(query).get('step')) || 0;
    const steps = [manifest({ step: 1, tokens: 1 }), manifest({ step: 2, tokens: 2 })];
    return { turn_id: 't1', model: 'm', started_at: 5, steps: n ? [steps[n - 1]] : steps };
  } });
  model.chooseTurn('t1');
  const stop = model.follow();
  await when(() => model.request.value && model.request.value.turn === 't1', 'the turn');
  same([model.request.value.steps.length, model.request.value.manifest.step, model.request.value.manifest.sent_at], [2, 2, 5]);
  model.chooseStep(1);
  await when(() => model.request.value.manifest.step === 1, 'the first step');
  same([model.request.value.steps.length, asked[1].query], [2, 'content=true&step=1']);
  stop();
});

test('a turn that was not stored says so, and the next request comes back', async () => {
  serve({ 'GET /api/conversations/x/turns/t0/context': () => refusal(404, 'this turn is from before'), 'GET /api/conversations/x/context': manifest() });
  model.chooseTurn('t0');
  const stop = model.follow();
  await when(() => model.trouble.value, 'the trouble');
  same([model.trouble.value, model.request.value], ['this turn is from before', null]);
  model.chooseTurn(null);
  await when(() => model.request.value && !model.request.value.turn, 'the next request');
  same(model.trouble.value, '');
  stop();
});

test('the menu has the turns that were answered, the newest first', () => {
  const m = (seq, role, turn_id) => ({ seq, role, turn_id, parts: [], created_at: seq });
  thread.messages.value = [m(1, 'user', 'a'), m(2, 'assistant', 'a'), m(3, 'user', 'b'), m(4, 'assistant', 'b'), m(5, 'user', 'c')];
  same(model.turns.value.map((x) => [x.id, x.seq]), [['b', 3], ['a', 1]]);
  is(model.step.value === 0, 'another turn begins with its last step');
});
