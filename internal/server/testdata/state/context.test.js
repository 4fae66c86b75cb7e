import { conversation, is, refusal, same, serve, test, when } from './check.js';
import * as context from '/assets/state/context.js';
import { down } from '/assets/state/line.js';
import { banner, hush, toast } from '/assets/state/notices.js';
import * as thread from '/assets/state/thread.js';
import { lang } from '/assets/state/words.js';

const stretch = { first_seq: 1, last_seq: 1200, ref: 'history:1', reason: 'folded' };
const routes = (more) => ({ 'GET /api/conversations/c/context': { conversation_id: 'c',
  excluded: [stretch, { first_seq: 1205, last_seq: 1205, reason: 'unfinished' }] }, ...more });

test('what is compacted stands behind a ref', async () => {
  serve(routes());
  await context.refresh('c');
  same(context.compacted.value, [stretch]);
  serve({});
  await context.refresh('c');
  is(banner.value !== null && context.manifest.value !== null, 'a context that cannot be read says so, and the last one stays');
  await context.refresh(null);
  same([context.manifest.value, context.compacted.value], [null, []]);
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
  const known = ['folded', 'not_compacted', 'unfinished', 'invalid', 'pinned, and no room'];
  lang.value = 'zh';
  for (const reason of known) is(/[\u4e00-\u9fff]/.test(context.reason({ reason })), reason);
  lang.value = 'en';
  same([...known, 'moonlight', 'constructor'].map((reason) => context.reason({ reason })),
    ['compacted', 'not compacted yet; the next turn goes on with it', 'interrupted, asked again', 'empty or failed answer', 'pinned, but no room', 'moonlight',
      'constructor']);
});

test('a run of messages has a name', () => {
  same([context.range({ first_seq: 5, last_seq: 5 }), context.range({ first_seq: 1, last_seq: 1200 })], ['#5', '#1–#1,200']);
});
