import { conversation, is, refusal, same, serve, test, when } from './check.js';
import { manifest } from '/assets/state/context.js';
import { banner, toast } from '/assets/state/notices.js';
import { panel } from '/assets/state/panels.js';
import * as receipts from '/assets/state/receipts.js';
import * as thread from '/assets/state/thread.js';
import { lang } from '/assets/state/words.js';

const receipt = (fields) => ({ result: 'compacted', first_seq: 1, last_seq: 1200, tokens_before: 32674, tokens_after: 2337, created_at: 1, ...fields });
const stretch = { first_seq: 1, last_seq: 1200, ref: 'history:1', reason: 'folded' };
const routes = (more) => ({ 'GET /api/conversations/c/context': { conversation_id: 'c', budget: 30720, compacts_at: 27648, excluded: [stretch] },
  'GET /api/conversations/c/receipts': { receipts: [receipt({ result: 'inflated' }), receipt({ undone: true }), receipt()] }, ...more });

test('a compacted stretch has its receipt, and another conversation has none of it', async () => {
  serve(routes());
  await receipts.refresh('c');
  same([receipts.receiptOf(stretch).undone, receipts.receiptOf({ first_seq: 1, last_seq: 7 })], [undefined, undefined]);
  is(receipts.receiptOf(stretch), 'the one that was not undone');
  serve({});
  await receipts.refresh('c');
  is(banner.value !== null && receipts.receipts.value.length === 3, 'receipts that cannot be read say so, and the last ones stay');
  await receipts.refresh(null);
  same(receipts.receipts.value, []);
});

test('people read what came of a compaction', async () => {
  thread.adopt(conversation('c'));
  for (const [result, en, zh] of [
    ['compacted', 'Compacted #1–#1,200 · 32,674 → 2,337 tokens', '已压缩 #1–#1,200 · 32,674 → 2,337 个 token'],
    ['noop', 'Nothing to compact: there are no earlier messages to replace.', '没有可压缩的内容：没有更早的消息了。'],
    ['inflated', 'Compacting would not have made the request smaller.', '压缩后请求也不会变小，因此没有压缩。'],
  ]) {
    for (const [l, want] of [['zh', zh], ['en', en]]) {
      lang.value = l;
      const asked = serve(routes({ 'POST /api/conversations/c/compact': receipt({ result }) }));
      await receipts.compactNow();
      same([toast.value.text, asked[0].body, receipts.busy.value, asked.length], [want, { force: true }, false, 3], result);
    }
  }
});

test('why a model gave no summary has the server\'s reason in brackets', () => {
  const refused = receipt({ summary_result: 'empty_summary', summary_why: 'it was blank' });
  for (const [l, want, whole] of [
    ['zh', '模型没有给出可用的摘要（it was blank）', '已压缩 #1–#1,200 · 32,674 → 2,337 个 token · 改用消息原文的摘录：模型没有给出可用的摘要（it was blank）'],
    ['en', 'the model gave no usable summary (it was blank)',
      'Compacted #1–#1,200 · 32,674 → 2,337 tokens · extracts of the messages stand for them: the model gave no usable summary (it was blank)'],
  ]) {
    lang.value = l;
    same([receipts.why(refused), receipts.outcome(refused)], [want, whole]);
  }
  const resting = receipt({ summary_why: 'models rest' });
  same([receipts.why(resting), receipts.outcome(resting)], ['models rest',
    'Compacted #1–#1,200 · 32,674 → 2,337 tokens · extracts of the messages stand for them: models rest']);
  same(receipts.why(receipt({ summary_result: 'model_error' })), 'no summary from the model');
  same(receipts.outcome(receipt({ result: 'empty_summary', summary_why: 'it was blank' })), 'The model gave no usable summary. (it was blank)');
});

test('starting afresh says what was done, and a refusal why not', async () => {
  serve(routes({ 'POST /api/conversations/c/clear': receipt() }));
  await receipts.startAfresh();
  same(toast.value.text, 'Started afresh');
  serve(routes({ 'POST /api/conversations/c/clear': refusal(409, 'a turn is running') }));
  await receipts.startAfresh();
  same([banner.value.text, receipts.busy.value], ['a turn is running', false]);
});

const weighed = receipt({ first_seq: 2683, last_seq: 2878, messages: 196, folded_tokens: 19204, card_tokens: 402, segments: ['s2'], created_at: 9 });

test('a receipt tells the trade, by whom and why', () => {
  same([receipts.trade(weighed), receipts.trade(receipt()), receipts.counted(receipt()), receipts.counted(weighed)],
    ['196 messages, 19,204 → 402 tokens', '32,674 → 2,337 tokens', 1200, 196]);
  same([weighed, receipt({ cleared: true }), receipt({ result: 'inflated' })].map(receipts.title), ['Compacted #2,683–#2,878', 'Started afresh at #1,200', 'Not compacted']);
  same(['window', 'ahead', 'moonlight', undefined].map((reason) => receipts.reason({ reason })), ['the request was near its limit', 'ahead of time, in the background', 'moonlight', '']);
  same([receipts.refused({ why: 'it has no heading' }), receipts.refused({ result: 'empty_summary' })],
    ['refused: it has no heading', 'refused: the model gave no usable summary']);
  lang.value = 'zh';
  same(receipts.trade(weighed), '196 条消息，19,204 → 402 个 token');
  lang.value = 'en';
});

test('undoing is tried before it is done, takes along what is newer, and changes nothing until then', async () => {
  const all = [receipt({ segments: ['s3'], created_at: 12, first_seq: 2879, last_seq: 2900 }), receipt({ result: 'noop', created_at: 11 }), weighed, receipt({ segments: ['s1'], created_at: 3 })];
  const asked = serve(routes({ 'GET /api/conversations/c/receipts': { receipts: all },
    'POST /api/conversations/c/uncompact': ({ body }) => (body.dry_run ? { tokens_before: 13618, tokens_after: 32420 } : weighed) }));
  await receipts.refresh('c');
  manifest.value = { conversation_id: 'c', budget: 30720, compacts_at: 27648, excluded: [] };
  same([receipts.along(weighed, 'undo').length, receipts.undoable(weighed), receipts.undoable(all[1]), receipts.redoable(weighed)], [1, true, false, false]);
  await receipts.attemptOf(weighed, 'undo');
  same(asked.filter((r) => r.at.startsWith('POST')).map((r) => r.body), [{ segment: 's2', dry_run: true }]);
  same(receipts.comes(receipts.trial.value, manifest.value),
    'Next request 13,618 → 32,420 tokens. That is 1,700 over, so your next message would compact again. 1 newer compaction is undone with it.');
  same(receipts.comes({ verb: 'redo', along: 0, before: 13618, after: 3120 }, manifest.value), 'Next request 13,618 → 3,120 tokens.');
  same(receipts.comes({ verb: 'undo', along: 0, before: 13618, after: 28000 }, manifest.value), 'Next request 13,618 → 28,000 tokens. Your next message would compact again.');
  receipts.keep();
  same(receipts.trial.value, null);
  await receipts.go(weighed, 'undo');
  same([asked.filter((r) => r.at.startsWith('POST')).pop().body, toast.value.text], [{ segment: 's2' }, 'Undid the compaction of #2,683–#2,878']);
  await when(() => manifest.value, 'the context afterwards');
});

test('what was undone is done again, with what it was made on top of', async () => {
  const undone = receipt({ segments: ['s1'], created_at: 3, last_seq: 100, undone: true, redo: true });
  const upper = receipt({ segments: ['s2'], created_at: 9, first_seq: 101, last_seq: 200, undone: true, redo: true });
  const asked = serve(routes({ 'GET /api/conversations/c/receipts': { receipts: [upper, undone] }, 'POST /api/conversations/c/recompact': upper }));
  await receipts.refresh('c');
  same([receipts.along(upper, 'redo').length, receipts.redoable(upper), receipts.redoable({ ...upper, redo: false })], [1, true, false]);
  await receipts.go(upper, 'redo');
  same([asked[1].at, asked[1].body, toast.value.text], ['POST /api/conversations/c/recompact', { segment: 's2' }, 'Compacted #101–#200 again']);
});

test('a trial that cannot be made says why and is gone', async () => {
  serve({ 'POST /api/conversations/c/uncompact': refusal(409, 'the log moved on') });
  await receipts.attemptOf(weighed, 'undo');
  same([receipts.trial.value, banner.value.text], [null, 'the log moved on']);
});

test('a crease opens the panel at its receipt', () => {
  receipts.open(weighed);
  same([panel.value, receipts.aim.value.id], ['receipts', receipts.idOf(weighed)]);
});
