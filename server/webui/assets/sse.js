// Server-sent events from a fetch body: yields {id, data} for each frame.
// Comments and unknown fields are passed over, as the standard says.

export async function* frames(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  let id = null;
  let data = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += value;
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop();
      for (const line of lines) {
        if (line === '') {
          if (data.length) yield { id, data: data.join('\n') };
          id = null;
          data = [];
          continue;
        }
        const colon = line.indexOf(':');
        if (colon === 0) continue;
        const field = colon < 0 ? line : line.slice(0, colon);
        const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
        if (field === 'data') data.push(value);
        else if (field === 'id') id = value;
      }
    }
  } finally {
    reader.cancel().catch(() => {}); // whoever stops reading lets the connection go
  }
}

// joinAt adds a piece at a place counted in characters (code points). held is
// {text, count}; what is there already is not written twice. It answers null
// when the piece leaves a gap.
export function joinAt(held, piece, at) {
  if (at > held.count) return null;
  const chars = Array.from(piece);
  const known = held.count - at;
  if (known >= chars.length) return held;
  const fresh = known ? chars.slice(known) : chars;
  return { text: held.text + (known ? fresh.join('') : piece), count: held.count + fresh.length };
}
