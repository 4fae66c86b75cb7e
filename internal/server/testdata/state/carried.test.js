import { conversation, is, message, same, serve, test, when } from './check.js';
import * as carried from '/assets/state/carried.js';
import { banner, toast } from '/assets/state/notices.js';
import { panel } from '/assets/state/panels.js';
import * as thread from '/assets/state/thread.js';

const todo = { id: 'k_1', kind: 'todo', text: 'Water the plants.', seq: 3, conversation_id: 'c', state: 'open' };
const rule = { id: 'k_2', kind: 'instruction', text: 'Never push.', seq: 1, conversation_id: 'c', state: 'open' };
const routes = (kept, more) => ({ 'GET /api/conversations/c/kept': { kept }, ...more });

test('what is kept is read while the panel shows it', async () => {
  panel.value = null;
  thread.adopt(conversation('c'));
  const asked = serve(routes([todo, rule]));
  const end = carried.follow();
  same(asked.length, 0);
  panel.value = 'kept';
  await when(() => carried.entries.value.length === 2);
  serve(routes([rule]));
  thread.adopt({ ...conversation('c'), version: 99 });
  await when(() => carried.entries.value.length === 1);
  end();
  panel.value = null;
  serve({});
  await carried.refresh('c');
  is(banner.value !== null && carried.entries.value.length === 1, 'a list that cannot be read says so, and the last one stays');
});

test('a to-do is ticked off, a sentence dropped, and either taken back', async () => {
  thread.adopt(conversation('c'));
  let asked = serve(routes([rule], { 'PATCH /api/conversations/c/kept/k_1': { ...todo, state: 'done' } }));
  await carried.tick(todo);
  same([asked[0].body, carried.entries.value], [{ state: 'done' }, [rule]]);
  asked = serve(routes([todo, rule], { 'PATCH /api/conversations/c/kept/k_1': todo }));
  await toast.value.run();
  await when(() => carried.entries.value.length === 2);
  same(asked[0].body, { state: 'open' });
  serve(routes([todo], { 'DELETE /api/conversations/c/kept/k_2': { ...rule, state: 'dropped' } }));
  await carried.drop(rule);
  same(carried.entries.value, [todo]);
});

test('a sentence is kept on one line', async () => {
  const asked = serve(routes([todo, rule], { 'POST /api/conversations/c/kept': rule }));
  await carried.keep('c', 1, ' Never\n push. ');
  same([asked[0].body, carried.entries.value.length], [{ seq: 1, text: 'Never push.' }, 2]);
});

test('a sentence that is selected as it is drawn is kept as it is written', async () => {
  is(carried.findWritten('Do use **tabs** only. Yes.', 'Do use tabs only.') === 'Do use **tabs** only.', 'marks within');
  is(carried.findWritten('So: **Never** push\nto `main`.', 'Never push to main.') === '**Never** push to `main`.', 'marks around');
  is(carried.findWritten('Never push.', 'Never  push.') === 'Never push.', 'none');
  is(carried.findWritten('Never push.', 'Always push.') === 'Always push.', 'what is not there');
  is(carried.findWritten('(2+2) is **4**?', '(2+2) is 4?') === '(2+2) is **4**?', 'signs');
  is(carried.findWritten('*'.repeat(600), '* '.repeat(300)) !== '', 'only marks');
  thread.messages.value = [message(1, 'assistant', 'Do use **tabs** only.')];
  const asked = serve(routes([], { 'POST /api/conversations/c/kept': rule }));
  await carried.keep('c', 1, 'Do use tabs only.');
  same(asked[0].body, { seq: 1, text: 'Do use **tabs** only.' });
});
