// The policies of compaction and their numbers, as the server lists them. The page says in words
// what they mean; one that it has no words for is shown by its name.
import { list } from './offered.js';
import { has, t } from './words.js';

export const names = () => list('policies').map((p) => p.name);
export const policyName = (p) => (p === '' ? t('policyDefault') : p === 'auto' ? t('policy.auto') : p);
export const about = (policy) => (has(`set.policy.${policy}`) ? t(`set.policy.${policy}`) : '');
export const aboutNumber = (name) => (has(`set.n.${name}`) ? t(`set.n.${name}`) : '');

const bounds = (name) => list('policy_numbers').find((n) => n.name === name);

// arranged are the numbers by what they decide. Those that no group names are in the last.
const arranged = [
  { key: 'when', first: true, names: ['trigger_share', 'trigger_limit_share', 'trigger_messages', 'trigger_tokens', 'new_messages'] },
  { key: 'stays', first: true, names: ['after_share', 'keep_share', 'keep_messages', 'least_share', 'most_share', 'pinned_share'] },
  { key: 'stands', names: ['summary_tokens', 'summary_share', 'said_share', 'check_calls', 'placeholder_tokens', 'placeholder_share', 'placeholders_max',
    'placeholders_share', 'extract_lines'] },
  { key: 'worth', names: ['shrink_share', 'retry_growth', 'failures_max'] },
];

// groups are the numbers as [name, least, most], by what they decide.
export function groups() {
  const placed = arranged.flatMap((g) => g.names);
  const others = list('policy_numbers').map((n) => n.name).filter((n) => !placed.includes(n));
  return arranged.map((g, i) => ({ ...g, numbers: [...g.names, ...(i === arranged.length - 1 ? others : [])].map(bounds).filter(Boolean).map((n) => [n.name, n.least, n.most]) }));
}

export const counts = (name) => Boolean(bounds(name)?.whole);

// own is what a policy has by itself of a number; none named is auto, the first.
export function own(policy, name) {
  const all = list('policies');
  const of = all.find((p) => p.name === policy) || all[0];
  return of ? of.numbers[name] : undefined;
}

// read makes what was typed into numbers, without those that were left empty; what is not a number
// within its bounds is named in wrong. The server judges one whose bounds are not known.
export function read(typed) {
  const out = {};
  const wrong = [];
  for (const [name, value] of Object.entries(typed)) {
    const text = String(value ?? '').trim();
    if (!text) continue;
    const n = Number(text);
    const of = bounds(name);
    if (!Number.isFinite(n) || (of && (n < of.least || n > of.most || (of.whole && !Number.isInteger(n))))) wrong.push(name);
    else out[name] = n;
  }
  return { numbers: out, wrong };
}
