import { is, same, test } from './check.js';
import { counts, groups, own, presets, read } from '/assets/state/policies.js';
import { t } from '/assets/state/words.js';

const names = groups.flatMap((g) => g.numbers.map(([n]) => n));

test('each number of each policy has its bounds, its words and a value within them', () => {
  for (const [policy, p] of Object.entries(presets)) same(Object.keys(p).sort(), [...names].sort(), policy);
  for (const [name, least, most] of groups.flatMap((g) => g.numbers)) {
    is(t('set.n.' + name) !== 'set.n.' + name, `${name} has no words`);
    for (const p of Object.keys(presets)) is(own(p, name) >= least && own(p, name) <= most, `${name} of ${p}`);
  }
  same([own('rolling', 'trigger_messages'), own('', 'trigger_limit_share')], [12, 0.7]);
});

test('what is typed becomes numbers; what is out of bounds is named', () => {
  same(read({ trigger_share: ' 0.8 ', keep_messages: '', summary_tokens: '500' }), { numbers: { trigger_share: 0.8, summary_tokens: 500 }, wrong: [] });
  same(read({ trigger_share: '7', keep_messages: '1.5', summary_tokens: 'many', least_share: '0' }), { numbers: { least_share: 0 }, wrong: ['trigger_share', 'keep_messages', 'summary_tokens'] });
  same([counts('keep_messages'), counts('keep_share')], [true, false]);
});
