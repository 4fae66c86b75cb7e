import { conversation, message, same, serve, test, when } from './check.js';
import { manifest } from '/assets/state/context.js';
import { artifactOf, brief, firstLine, original, pin, pinnable, pinned, pretty, readable, roleName } from '/assets/state/message.js';
import * as thread from '/assets/state/thread.js';

test('texts are abridged, and JSON is set out', () => {
  same([pretty('{"a":1}'), pretty({ a: 1 }), pretty('no'), readable(' [1]'), readable('[no'), readable('plain'), readable(undefined)],
    ['{\n  "a": 1\n}', '{\n  "a": 1\n}', 'no', '[\n  1\n]', '[no', 'plain', undefined]);
  same([brief('x'), brief({ a: 1 }), brief(undefined), firstLine('\n two\nthree'), firstLine(null), firstLine('x'.repeat(500)).length],
    ['x', '{"a":1}', '', 'two', '', 160]);
  same(['user', 'assistant', 'tool', 'system', 'other'].map(roleName), ['You', 'Assistant', 'Tool', 'System', 'System']);
});

test('the whole of a result is behind its artifact, or its ref', () => {
  same([original({ artifact: 'ab', ref: 'history:1' }), original({ ref: 'history:1' }), original({})],
    ['artifact:ab', 'history:1', undefined]);
  same(artifactOf({ artifact: 'ab' }, 'c&1'), '/api/artifacts/ab?conversation=c%261');
});

test('what somebody said can be pinned, and unpinned', async () => {
  const call = { ...message(2, 'assistant'), parts: [{ type: 'text', text: 'x' }, { type: 'tool_call' }] };
  same([message(1), message(1, 'assistant'), message(1, 'tool'), message(1, 'system'), call].map(pinnable),
    [true, true, false, false, false]);
  thread.adopt(conversation('c', { pinned_seqs: [3] }));
  const asked = serve({
    'PATCH /api/conversations/c': ({ body }) => conversation('c', body),
    'GET /api/conversations/c/context': () => ({ conversation_id: 'c', excluded: [] }),
    'GET /api/conversations/c/receipts': { receipts: [] },
  });
  same(pinned(message(1)), false);
  await pin(message(1));
  same([asked[0].body, pinned(message(1))], [{ pinned_seqs: [3, 1] }, true]);
  await when(() => manifest.value, 'the context that has the pin in it');
  await pin(message(3));
  same(thread.conversation.value.pinned_seqs, [1]);
});
