// A message's text: whitespace as written, fenced code as blocks, `code` inline, nothing else.
import { html, useState } from './html.js';
import { t } from './words.js';

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

function inline(text) {
  const out = [];
  let at = 0;
  for (const m of text.matchAll(span)) {
    out.push(text.slice(at, m.index), html`<code>${m[2]}</code>`);
    at = m.index + m[0].length;
  }
  out.push(text.slice(at));
  return out;
}

export function Copy({ text }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setDone(true);
      setTimeout(() => setDone(false), 1500);
    } catch { /* the browser forbids it; the text can still be selected */ }
  };
  return html`<button type="button" class="copy" onClick=${copy}>${done ? t('copied') : t('copy')}</button>`;
}

export function Text({ text }) {
  return blocks(text).map((b) => (b.code
    ? html`<figure class="code"><figcaption><span>${b.language}</span><${Copy} text=${b.text} /></figcaption><pre tabindex="0"><code>${b.text}</code></pre></figure>`
    : html`<div class="prose">${inline(b.text.replace(/^\n+|\n+$/g, ''))}</div>`));
}

// marked shows the spans of a snippet; they count characters, not UTF-16 units.
export function marked(snippet, spans) {
  const chars = Array.from(snippet);
  const out = [];
  let at = 0;
  for (const [from, to] of spans || []) {
    if (from < at) continue;
    out.push(chars.slice(at, from).join(''), html`<mark>${chars.slice(from, to).join('')}</mark>`);
    at = to;
  }
  out.push(chars.slice(at).join(''));
  return out;
}
