import { is, same, serve, test } from './check.js';
import * as context from '/assets/state/context.js';
import { banner } from '/assets/state/notices.js';
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

test('why something is left out has words, and a new reason is shown as it came', () => {
  const known = ['folded', 'not folded yet', 'unfinished', 'invalid', 'pinned, and no room'];
  lang.value = 'zh';
  for (const reason of known) is(/[\u4e00-\u9fff]/.test(context.reason({ reason })), reason);
  lang.value = 'en';
  same([...known, 'moonlight', 'constructor'].map((reason) => context.reason({ reason })),
    ['compacted', 'not compacted yet', 'interrupted, asked again', 'empty or failed answer', 'pinned, but no room', 'moonlight',
      'constructor']);
});

test('a run of messages has a name', () => {
  same([context.range({ first_seq: 5, last_seq: 5 }), context.range({ first_seq: 1, last_seq: 1200 })], ['#5', '#1–#1,200']);
});
