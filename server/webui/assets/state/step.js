// The step that is being written: what the events of a turn make of it.

export const blank = () => ({ text: '', count: 0, reasoning: '', thought: 0, calls: [], results: [] });

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
    case 'tool_call': return { ...step, calls: [...step.calls.filter((c) => c.id !== ev.id), ev] };
    case 'tool_result': return { ...step, results: [...step.results, ev] };
    default: return step;
  }
}
