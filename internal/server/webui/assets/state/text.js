// What is in a text: prose and fenced code, `code` among prose, marked spans of a snippet.

const fence = /^ {0,3}(`{3,}|~{3,})\s*([^`]*)$/;

// blocks cuts a text into prose and fenced code; a fence that is not closed yet runs to the end.
export function blocks(text) {
  const out = [];
  let lines = [];
  let open = null;
  const flush = (code) => {
    if (code || lines.some((l) => l !== '')) out.push({ code, text: lines.join('\n'), language: open ? open.language : '' });
    lines = [];
  };
  for (const line of text.split('\n')) {
    const m = fence.exec(line);
    if (!open && m) {
      flush(false);
      open = { mark: m[1], language: m[2].trim().split(/\s/)[0] };
    } else if (open && m && m[1][0] === open.mark[0] && m[1].length >= open.mark.length && !m[2].trim()) {
      flush(true);
      open = null;
    } else lines.push(line);
  }
  flush(open !== null);
  return out;
}

const span = /(?<!`)(`+)(?!`)([^\n]+?)(?<!`)\1(?!`)/g;

// inline cuts prose into {code, text}: what stands between backquotes, and the rest.
export function inline(text) {
  const out = [];
  let at = 0;
  for (const m of text.matchAll(span)) {
    out.push({ code: false, text: text.slice(at, m.index) }, { code: true, text: m[2] });
    at = m.index + m[0].length;
  }
  out.push({ code: false, text: text.slice(at) });
  return out;
}

// marked cuts a snippet into {mark, text}. spans are [from, to] in characters, not UTF-16 units.
export function marked(snippet, spans) {
  const chars = Array.from(snippet);
  const out = [];
  let at = 0;
  for (const [from, to] of spans || []) {
    if (from < at) continue;
    out.push({ mark: false, text: chars.slice(at, from).join('') }, { mark: true, text: chars.slice(from, to).join('') });
    at = to;
  }
  out.push({ mark: false, text: chars.slice(at).join('') });
  return out;
}
