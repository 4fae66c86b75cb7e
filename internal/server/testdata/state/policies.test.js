import { same, serve, test } from './check.js';
import { learnLimits } from '/assets/state/offered.js';
import { about, aboutNumber, counts, groups, names, own, policyName, read } from '/assets/state/policies.js';

const number = (name, least, most, whole) => ({ name, least, most, whole });
const offered = {
  policies: [{ name: 'auto', numbers: { trigger_share: 0.9, keep_messages: 0, unheard_of: 3 } }, { name: 'rolling', numbers: { trigger_share: 0.8, keep_messages: 4, unheard_of: 3 } },
    { name: 'invented', numbers: { trigger_share: 0.5, keep_messages: 9, unheard_of: 4 } }],
  policy_numbers: [number('trigger_share', 0.1, 1, false), number('keep_messages', 0, 100000, true), number('unheard_of', 1, 5, true)],
};

test('nothing is known before the server has said it, and what was set is kept', () => {
  same([names(), groups().flatMap((g) => g.numbers), own('', 'trigger_share')], [[], [], undefined]);
  same(read({ keep_share: '0.3', keep_messages: 'x' }), { numbers: { keep_share: 0.3 }, wrong: ['keep_messages'] });
});

test('the policies and numbers are those of the server, also one that the page has no words for', async () => {
  serve({ 'GET /api/limits': offered });
  await learnLimits();
  same(names(), ['auto', 'rolling', 'invented']);
  same(['', ...names()].map(policyName), ['default', 'automatic', 'rolling', 'invented']);
  same([about('invented'), about('rolling') !== '', aboutNumber('unheard_of'), aboutNumber('keep_messages') !== ''], ['', true, '', true]);
  same(groups().map((g) => [g.key, g.numbers]), [['when', [['trigger_share', 0.1, 1]]], ['stays', [['keep_messages', 0, 100000]]], ['stands', []], ['worth', [['unheard_of', 1, 5]]]]);
  same([own('rolling', 'keep_messages'), own('invented', 'unheard_of'), own('', 'keep_messages'), own('gone', 'trigger_share')], [4, 4, 0, 0.9]);
  same([counts('keep_messages'), counts('trigger_share'), counts('gone')], [true, false, false]);
});

test('what is typed becomes numbers; what is out of bounds is named', () => {
  same(read({ trigger_share: ' 0.8 ', keep_messages: '', unheard_of: '5' }), { numbers: { trigger_share: 0.8, unheard_of: 5 }, wrong: [] });
  same(read({ trigger_share: '7', keep_messages: '1.5', unheard_of: 'many', after_share: '0' }), { numbers: { after_share: 0 }, wrong: ['trigger_share', 'keep_messages', 'unheard_of'] });
});
