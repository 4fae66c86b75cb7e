// What there is to say about a turn without a stored answer: how it ended, why, what the
// provider said, and what to do.
import { seconds } from './figures.js';
import { t } from './words.js';

const states = { open: 'answering', interrupted: 'interrupted', failed: 'failed', over_budget: 'overBudget', complete: 'endedEarly' };
const reasons = { max_steps: 'reason.maxSteps', length: 'reason.length', truncated: 'reason.truncated', bound: 'reason.bound' };
const advices = {
  set_key: 'advice.setKey', check_key: 'advice.checkKey', top_up: 'advice.topUp', check_address: 'advice.checkAddress',
  leave_out: 'advice.leaveOut',
  choose_model: 'advice.chooseModel', raise_limit: 'advice.raiseLimit', rephrase: 'advice.rephrase', wait: 'advice.wait', retry: 'advice.retry',
};

const said = (table, key, ...args) => (Object.hasOwn(table, key) ? t(table[key], ...args) : '');

export const stateOf = (e) => said(states, e.state) || e.state;

// mark is the class by which a state is coloured.
export const mark = (e) => (e.state === 'failed' || e.state === 'over_budget' ? 'failed' : 'interrupted');

// why is the reason in a sentence, or nothing if the state says it all.
export const why = (e) => (e.error ? e.error.message : said(reasons, e.finish_reason));

export const cause = (e) => (e.error && e.error.cause ? t('cause', e.error.cause) : '');

// todo is what the reader can do. A flag of the command line is a setting of the page.
export const todo = (e) => (e.error ? said(advices, e.error.advice, /^--/.test(e.error.setting || '') ? '' : e.error.setting || '') : '');

// suspect is the seq of the message without which a refusal that will come again may be got around; 0
// where there is none, or where the turn is not the newest.
export const suspect = (e) => (e.retry && e.error && e.error.permanent && e.error.suspect_seq) || 0;

// lasted says how long a turn tried that failed before a word, and that its question is kept.
export function lasted(e) {
  if (mark(e) !== 'failed' || e.content || e.message_id) return '';
  return e.ended_at > e.started_at ? t('trouble.after', seconds(e.ended_at - e.started_at)) : t('trouble.kept');
}

// belongs says whether the turn has nothing of its own to show besides message m, its last.
export const belongs = (e, m) => e.message_id === m.id && parts(e).length === 0;

// parts are what a turn wrote and has not stored, as parts of a message.
export const parts = (e) => [
  ...(e.reasoning ? [{ type: 'reasoning', text: e.reasoning }] : []),
  ...(e.content ? [{ type: 'text', text: e.content }] : []),
  ...(e.tool_calls || []).map((c) => ({ ...c, type: 'tool_call' })),
];
