import { same, test } from './check.js';
import * as trouble from '/assets/state/trouble.js';
import { lang } from '/assets/state/words.js';

const failed = { state: 'failed', error: { code: 'refused', message: 'acme refuses the key', cause: 'no such key', advice: 'check_key', setting: 'ACME_KEY' } };

test('a failure says why, what the server said and what to do, in both languages', () => {
  lang.value = 'en';
  same([trouble.stateOf(failed), trouble.mark(failed), trouble.why(failed), trouble.cause(failed), trouble.todo(failed)],
    ['failed', 'failed', 'acme refuses the key', 'The server said: no such key', 'Check the key in ACME_KEY.']);
  lang.value = 'zh';
  same([trouble.stateOf(failed), trouble.cause(failed), trouble.todo(failed)], ['失败', '服务器的说明：no such key', '请检查 ACME_KEY 中的密钥。']);
  lang.value = 'en';
});

test('a flag of the command line is not named, and what is new is passed over', () => {
  same(trouble.todo({ error: { advice: 'raise_limit', setting: '--limit' } }), 'Set a larger limit in the settings, or shorten the request.');
  same([trouble.todo({ error: { advice: 'constructor' } }), trouble.todo({ error: {} }), trouble.stateOf({ state: 'toString' })], ['', '', 'toString']);
});

test('a turn belongs to the message it stored last, unless it wrote more', () => {
  const e = { state: 'failed', message_id: 'm' };
  same([trouble.belongs(e, { id: 'm' }), trouble.belongs(e, { id: 'n' }), trouble.belongs({ ...e, content: 'more' }, { id: 'm' }),
    trouble.belongs({ state: 'failed' }, { id: 'm' })], [true, false, false, false]);
});

test('what was cut off keeps its words, and an end at a bound its reason', () => {
  const cut = { state: 'interrupted', content: 'half', reasoning: 'hm', tool_calls: [{ id: 'c', name: 'look', arguments: {} }] };
  same([trouble.stateOf(cut), trouble.mark(cut), trouble.why(cut), trouble.todo(cut)], ['interrupted', 'interrupted', '', '']);
  same(trouble.parts(cut).map((p) => p.type), ['reasoning', 'text', 'tool_call']);
  same([trouble.parts(failed), trouble.why({ state: 'complete', finish_reason: 'length' })], [[], 'The answer reached the length the model may write.']);
});

test('a message is left out where a refusal of the newest turn will come again', () => {
  const refused = { state: 'failed', retry: true, error: { permanent: true, suspect_seq: 3, advice: 'leave_out' } };
  same([trouble.suspect(refused), trouble.suspect({ ...refused, retry: false }), trouble.suspect({ ...refused, error: { suspect_seq: 3 } }), trouble.suspect(failed)], [3, 0, 0, 0]);
  same(trouble.todo(refused), 'Go on without the message that is refused, choose another model, or go back to before it.');
});
