import { conversation, is, refusal, same, serve, test, when } from './check.js';
import * as context from '/assets/state/context.js';
import { down } from '/assets/state/line.js';
import { banner, hush, toast } from '/assets/state/notices.js';
import * as thread from '/assets/state/thread.js';
import { lang } from '/assets/state/words.js';

const receipt = (fields) => ({ result: 'compacted', first_seq: 1, last_seq: 1200, tokens_before: 32674, tokens_after: 2337, ...fields });
const stretch = { first_seq: 1, last_seq: 1200, ref: 'history:1', reason: 'folded' };
const routes = (more) => ({ 'GET /api/conversations/c/context': { conversation_id: 'c',
  excluded: [stretch, { first_seq: 1205, last_seq: 1205, reason: 'unfinished' }] },
  'GET /api/conversations/c/receipts': { receipts: [receipt({ result: 'inflated' }), receipt()] }, ...more });

test('what is compacted stands behind a ref, and has its receipt', async () => {
  serve(routes());
  await context.refresh('c');
  same([context.compacted.value, context.receiptOf(stretch).result, context.receiptOf({ first_seq: 1, last_seq: 7 })],
    [[stretch], 'compacted', undefined]);
  serve({});
  await context.refresh('c');
  is(banner.value !== null && context.manifest.value !== null, 'a context that cannot be read says so, and the last one stays');
  await context.refresh(null);
  same([context.manifest.value, context.receipts.value], [null, []]);
});

test('the figures follow what is being written, and only its newest form', async () => {
  thread.adopt(conversation('c'));
  hush();
  const asked = serve(routes({ 'POST /api/conversations/c/context': ({ body }) => ({ conversation_id: 'c', excluded: [], draft: body.message.length }) }));
  context.preview('c', { message: 'a' });
  context.preview('c', { message: 'ab' });
  context.preview('c', { message: 'ab' });
  await when(() => context.manifest.value && context.manifest.value.draft === 2, 'the figures of the draft');
  same(asked.map((r) => r.at), ['POST /api/conversations/c/context']);
  context.preview('c', null);
  await when(() => context.manifest.value.draft === undefined, 'the figures without one');
  context.preview('c', { message: 'abc' });
  serve(routes({ 'POST /api/conversations/c/context': refusal(400, 'too long') }));
  const was = context.manifest.value;
  await when(() => context.manifest.value !== was, 'the figures without a message that cannot be sent');
  same([context.manifest.value.draft, banner.value], [undefined, null]);
  const last = context.manifest.value;
  context.preview('c', null);
  await when(() => context.manifest.value !== last, 'the figures without a message again');
});

test('the same list of what is compacted stays the same', async () => {
  serve(routes());
  await context.figures('c');
  const was = context.compacted.value;
  await context.figures('c');
  is(context.compacted.value === was && was.length === 1, 'it is another list');
});

test('figures that nobody gives are said where one writes', async () => {
  globalThis.fetch = async () => { throw new TypeError('network'); };
  hush();
  await context.figures('c');
  same([down.value, banner.value], [true, null]);
  serve(routes());
  await context.figures('c');
  same(down.value, false);
});

test('why something is left out has words, and a new reason is shown as it came', () => {
  const known = ['folded', 'not folded yet', 'unfinished', 'invalid', 'pinned, and no room'];
  lang.value = 'zh';
  for (const reason of known) is(/[\u4e00-\u9fff]/.test(context.reason({ reason })), reason);
  lang.value = 'en';
  same([...known, 'moonlight', 'constructor'].map((reason) => context.reason({ reason })),
    ['compacted', 'not compacted yet', 'interrupted, asked again', 'empty or failed answer', 'pinned, but no room', 'moonlight',
      'constructor']);
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
      await context.compactNow();
      same([toast.value.text, asked[0].body, context.busy.value, asked.length], [want, { force: true }, false, 3], result);
    }
  }
  same(context.range({ first_seq: 5, last_seq: 5 }), '#5');
});

test('why a model gave no summary has the server\'s reason in brackets', () => {
  const refused = receipt({ summary_result: 'empty_summary', summary_why: 'it was blank' });
  for (const [l, want, whole] of [
    ['zh', '模型没有给出可用的摘要（it was blank）', '已压缩 #1–#1,200 · 32,674 → 2,337 个 token · 模型没有给出可用的摘要（it was blank）'],
    ['en', 'the model gave no usable summary (it was blank)',
      'Compacted #1–#1,200 · 32,674 → 2,337 tokens · the model gave no usable summary (it was blank)'],
  ]) {
    lang.value = l;
    same([context.why(refused), context.outcome(refused)], [want, whole]);
  }
  same(context.why(receipt({ summary_result: 'model_error' })), 'no summary from the model');
  same(context.outcome(receipt({ result: 'empty_summary', summary_why: 'it was blank' })), 'The model gave no usable summary. (it was blank)');
});

test('starting afresh and undoing say what was done', async () => {
  serve(routes({ 'POST /api/conversations/c/clear': receipt(), 'POST /api/conversations/c/uncompact': {} }));
  await context.startAfresh();
  same(toast.value.text, 'Started afresh');
  await context.undoCompaction();
  same(toast.value.text, 'Last compaction undone');
  serve(routes({ 'POST /api/conversations/c/uncompact': refusal(404, 'nothing to undo') }));
  await context.undoCompaction();
  same([banner.value.text, context.busy.value], ['nothing to undo', false]);
});
