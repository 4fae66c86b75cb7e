// The numbers of the policies of compaction: what each has by itself, and within which bounds one
// may be set. The page says in words what they mean.

// presets are the policies' own numbers; a share is of the budget, unless its words say otherwise.
const shared = {
  trigger_share: 0.9, trigger_limit_share: 0, trigger_messages: 0, trigger_tokens: 0, new_messages: 0, keep_share: 0, keep_messages: 0,
  least_share: 0.25, most_share: 0.7, summary_tokens: 4000, summary_share: 0.15, said_share: 0.25, check_calls: 0,
  placeholder_tokens: 400, placeholder_share: 0.05, placeholders_max: 8, placeholders_share: 0.1, pinned_share: 0.1,
  shrink_share: 0.95, retry_growth: 1.2, failures_max: 3,
};
export const presets = {
  snapshot: { ...shared, trigger_limit_share: 0.7, after_share: 0.4, keep_share: 0.3, extract_lines: 5 },
  rolling: { ...shared, trigger_messages: 12, trigger_tokens: 3500, new_messages: 4, after_share: 0.6, keep_share: 0.5, keep_messages: 4, extract_lines: 3 },
  segments: { ...shared, after_share: 0.5, keep_messages: 4, extract_lines: 5 },
};

const MANY = 10000000;

// groups are the numbers by what they decide; each is [name, least, most], and counts are whole.
export const groups = [
  { key: 'when', first: true, numbers: [['trigger_share', 0.1, 1], ['trigger_limit_share', 0, 1], ['trigger_messages', 0, 100000], ['trigger_tokens', 0, MANY], ['new_messages', 0, 100000]] },
  { key: 'stays', first: true, numbers: [['after_share', 0.05, 0.95], ['keep_share', 0, 1], ['keep_messages', 0, 100000], ['least_share', 0, 0.6], ['most_share', 0.05, 0.95], ['pinned_share', 0, 0.5]] },
  { key: 'stands', numbers: [['summary_tokens', 100, MANY], ['summary_share', 0.01, 0.25], ['said_share', 0, 0.9], ['check_calls', 0, 3], ['placeholder_tokens', 50, MANY],
    ['placeholder_share', 0.005, 0.25], ['placeholders_max', 3, 64], ['placeholders_share', 0.01, 0.25], ['extract_lines', 0, 50]] },
  { key: 'worth', numbers: [['shrink_share', 0.1, 1], ['retry_growth', 1, 10], ['failures_max', 1, 1000]] },
];

export const counts = (name) => /_(messages|tokens|calls|max|lines)$/.test(name);

// own is what a policy has by itself of a number. What auto comes to depends on the model:
// snapshot where it can write summaries, segments with the built-in one.
export const own = (policy, name) => (presets[policy] || presets.snapshot)[name];

// read makes what was typed into numbers, without those that were left empty; null where one is
// not a number within its bounds, with its name in wrong.
export function read(typed) {
  const out = {};
  const wrong = [];
  for (const [name, least, most] of groups.flatMap((g) => g.numbers)) {
    const text = String(typed[name] ?? '').trim();
    if (!text) continue;
    const n = Number(text);
    if (!Number.isFinite(n) || n < least || n > most || (counts(name) && !Number.isInteger(n))) wrong.push(name);
    else out[name] = n;
  }
  return { numbers: out, wrong };
}
