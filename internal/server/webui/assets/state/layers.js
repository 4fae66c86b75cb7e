// The items of a request as the blocks that are drawn: one for each layer, in the order they are
// sent; and of the live messages, which are shown and which stand in a run.

const kinds = {
  instructions: 'instructions', tools: 'tools', environment: 'environment', summary: 'summary', placeholder: 'compacted',
  pin: 'pins', request_only: 'request', acknowledgement: 'acknowledgement',
};

export const kindOf = (item) => (item.draft ? 'draft' : kinds[item.kind] || 'messages');

const text = (item) => (item.parts || []).map((p) => p.text || '').join('');

// layers puts the items of a request together: {kind, items, tokens, open, close}. What begins
// and ends the block of what was compacted stands with what it holds.
export function layers(items) {
  const out = [];
  let opened = null;
  let fence = 0;
  for (const item of items || []) {
    const last = out[out.length - 1];
    if (item.kind === 'folded') {
      if (item.joined_with_next) opened = item;
      else if (last) { last.close = text(item); last.tokens += item.tokens; }
      continue;
    }
    const kind = kindOf(item);
    if (last && last.kind === kind && kind !== 'draft') {
      last.items.push(item);
      last.tokens += item.tokens;
      continue;
    }
    if (opened) fence += opened.tokens; // what fences the block is counted with the cards, as the bar has it
    out.push({ kind, items: [item], tokens: item.tokens + (kind === 'compacted' ? fence : 0), open: opened ? text(opened) : '', close: '' });
    if (kind === 'compacted') fence = 0;
    opened = null;
  }
  return out;
}

export const first = (item) => item.seq || 0;
export const last = (item) => item.last_seq || item.seq || 0;

// holds says whether an item is message seq, or stands for it.
export const holds = (item, seq) => first(item) > 0 && first(item) <= seq && seq <= last(item);

// stands is how many messages cards stand for.
export const stands = (items) => items.reduce((n, x) => n + (first(x) ? last(x) - first(x) + 1 : 0), 0);

const least = 3; // messages that a run has at least
const looked = 40; // of the newest, how many are looked through for a text that was cut

const isCut = (item) => (item.parts || []).some((p) => p.cut);

// runs takes live messages apart: those of the newest turn, and texts that were cut before it,
// are shown one by one; what is between them stands in runs.
export function runs(items) {
  let turn = items.length;
  for (let i = items.length - 1; i >= 0; i--) if (items[i].role === 'user') { turn = i; break; }
  if (turn === items.length) turn = Math.max(0, items.length - least);
  const out = [];
  let held = [];
  const flush = () => {
    if (held.length >= least) out.push({ run: held, first: first(held[0]), last: last(held[held.length - 1]), tokens: held.reduce((n, x) => n + x.tokens, 0) });
    else out.push(...held.map((item) => ({ item })));
    held = [];
  };
  items.forEach((item, i) => {
    if (i < turn && !(i >= items.length - looked && isCut(item))) { held.push(item); return; }
    flush();
    out.push({ item });
  });
  flush();
  return out;
}
