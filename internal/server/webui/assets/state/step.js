// The step that is being written: what the events of a turn make of it.

// blocks are the closed ones of the text, as HTML; they cover it up to before character
// covered, which is its UTF-16 unit from.
export const blank = () => ({ text: '', count: 0, blocks: [], covered: 0, from: 0, reasoning: '', thought: 0, calls: [], results: [] });

// joinAt adds a piece at a place counted in characters (code points). held is
// {text, count}; what is there already is not written twice. It returns null
// when the piece leaves a gap.
export function joinAt(held, piece, at) {
  if (at > held.count) return null;
  const chars = Array.from(piece);
  const known = held.count - at;
  if (known >= chars.length) return held;
  const fresh = known ? chars.slice(known) : chars;
  return { text: held.text + (known ? fresh.join('') : piece), count: held.count + fresh.length };
}

// open is the text behind the closed blocks.
export const open = (step) => step.text.slice(step.from);

// close adds a closed block. One that is there already, that leaves a gap, or whose text is not
// there is passed over: its text stays open.
function close(step, ev) {
  if (ev.index !== step.blocks.length || ev.at !== step.covered || ev.end > step.count) return step;
  let from = step.from;
  for (let n = ev.at; n < ev.end; n++) from += step.text.codePointAt(from) > 0xffff ? 2 : 1;
  return { ...step, blocks: [...step.blocks, { index: ev.index, html: ev.html }], covered: ev.end, from };
}

// after is the step once an event has come. A piece that leaves a gap is passed over: a
// snapshot will bring it.
export function after(step, ev) {
  switch (ev.type) {
    case 'delta': {
      const to = joinAt(step, ev.content, ev.at);
      return to ? { ...step, text: to.text, count: to.count } : step;
    }
    case 'reasoning': {
      const to = joinAt({ text: step.reasoning, count: step.thought }, ev.content, ev.at);
      return to ? { ...step, reasoning: to.text, thought: to.count } : step;
    }
    case 'snapshot':
      return { ...blank(), text: ev.content, count: ev.at, reasoning: ev.reasoning, thought: Array.from(ev.reasoning).length, calls: ev.tool_calls };
    case 'block': return close(step, ev);
    case 'tool_call': return { ...step, calls: [...step.calls.filter((c) => c.id !== ev.id), ev] };
    case 'tool_result': return { ...step, results: [...step.results, ev] };
    default: return step;
  }
}
