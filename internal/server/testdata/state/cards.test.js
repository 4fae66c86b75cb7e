import { messages, refusal, same, serve, test, when } from './check.js';
import * as cards from '/assets/state/cards.js';

const leaf = (n, first, last, fields) => ({ ref: 'history:' + n, first_seq: first, last_seq: last, messages: last - first + 1, tokens: 9, card_tokens: 1, hint: n, ...fields });
const top = leaf('top', 1, 300, { rolled_up: true });
const inside = [leaf('a', 1, 100), leaf('b', 101, 300, { rolled_up: true })];
const below = [leaf('c', 101, 200), leaf('d', 201, 300)];

const base = {
  'GET /api/conversations/x/segments': { segments: [top], head_seq: 400, pinned_seqs: [] },
  'GET /api/conversations/x/refs/history%3Atop/leaves': { ref: top.ref, leaves: inside },
  'GET /api/conversations/x/refs/history%3Ab/leaves': { ref: 'history:b', leaves: below },
  'GET /api/conversations/x/messages': ({ query }) => {
    const q = new URLSearchParams(query);
    return { messages: messages(Number(q.get('after')) + 1, Math.min(Number(q.get('after')) + Number(q.get('limit')), Number(q.get('before')) - 1)) };
  },
};

const seqs = (ref) => { const o = cards.originals.value[ref]; return [o.from, o.to, o.messages.length]; };

test('a card opens to its leaves, a leaf to its first messages, and these go on', async () => {
  const asked = serve(base);
  await cards.visit('x');
  await cards.open(top.ref);
  same(cards.cards.value[top.ref].leaves.map((l) => l.hint), ['a', 'b']);
  await cards.toggleLeaf(inside[0]);
  same(seqs('history:a'), [1, 50, 50]);
  await cards.below(inside[0]);
  same(seqs('history:a'), [1, 100, 100]);
  cards.toggleLeaf(inside[0]);
  same(cards.cards.value['history:a'].open, false);
  const n = asked.length;
  await cards.open(top.ref);
  same(asked.length, n, 'what is known is not asked for again:');
});

test('a message is revealed through every level, with those beside it', async () => {
  serve(base);
  same(await cards.reveal(top.ref, 250), true);
  same([cards.cards.value['history:b'].open, cards.cards.value['history:d'].open, seqs('history:d')], [true, true, [248, 252, 5]]);
  await cards.above(below[1]);
  same(seqs('history:d'), [201, 252, 52]);
  same(await cards.reveal(top.ref, 999), false);
});

test('lines that match are counted by leaf, at each level, and gone through', async () => {
  const hits = [3, 150, 151, 220].map((seq) => ({ ref: 'history:z', seq, line: 1, content: 'x' }));
  serve({ ...base, 'GET /api/conversations/x/grep': { total: 4, matches: hits } });
  await cards.grep(top.ref, 'x');
  const g = () => cards.greps.value[top.ref];
  same([cards.lines(g(), inside[0]), cards.lines(g(), inside[1]), cards.lines(g(), below[0]), cards.lines(g(), below[1])], [1, 3, 2, 1]);
  same([await cards.step(top.ref, 1), await cards.step(top.ref, 1), await cards.step(top.ref, -1), await cards.step(top.ref, -1)], [3, 150, 3, 220]);
  await cards.grep(top.ref, '');
  same([g().pattern, cards.lines(g(), inside[0]), await cards.step(top.ref, 1)], ['', 0, 0]);
});

test('where there are more lines than are returned, each leaf is counted by itself', async () => {
  serve({ ...base, 'GET /api/conversations/x/grep': ({ query }) => {
    const of = new URLSearchParams(query).get('ref');
    return { total: { 'history:top': 900, 'history:a': 600, 'history:b': 300 }[of], matches: [{ seq: 1, line: 1, content: 'x' }] };
  } });
  await cards.grep(top.ref, 'x');
  same([cards.lines(cards.greps.value[top.ref], inside[0]), cards.lines(cards.greps.value[top.ref], inside[1])], [600, 300]);
});

test('what cannot be read says why, at its place', async () => {
  serve({ 'GET /api/conversations/x/grep': () => refusal(400, 'missing )'), 'GET /api/conversations/x/refs/history%3Agone/leaves': () => refusal(404, 'no such segment') });
  await cards.grep(top.ref, '(');
  await cards.open('history:gone');
  same([cards.greps.value[top.ref].fault, cards.cards.value['history:gone'].fault], ['missing )', 'no such segment']);
});

test('the whole of a text is read page by page, and cut again', async () => {
  const pages = { '': ['a', 1, false], 1: ['b', 2, true] };
  serve({ 'GET /api/conversations/x/refs/artifact%3A1': ({ query }) => {
    const [content, next_offset, done] = pages[new URLSearchParams(query).get('offset') || ''];
    return { content, next_offset, done, bytes: 2 };
  } });
  await cards.whole('artifact:1');
  same([cards.wholes.value['artifact:1'].text, cards.wholes.value['artifact:1'].done], ['a', false]);
  await cards.whole('artifact:1');
  cards.cutAgain('artifact:1');
  same([cards.wholes.value['artifact:1'].text, cards.wholes.value['artifact:1'].open], ['ab', false]);
});

test('another conversation forgets the cards of the one before', async () => {
  serve({ 'GET /api/conversations/y/segments': { segments: [], head_seq: 0, pinned_seqs: [] } });
  cards.visit('y');
  await when(() => cards.segments.value.size === 0, 'no segments');
  same([cards.cards.value, cards.originals.value, cards.greps.value], [{}, {}, {}]);
});
