// A message's text: whitespace as written, fenced code as blocks, `code` inline, nothing else.
import { html, useState } from './html.js';
import { blocks, inline, marked } from '../state/text.js';
import { t } from '../state/words.js';

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

const prose = (text) => inline(text.replace(/^\n+|\n+$/g, '')).map((p) => (p.code ? html`<code>${p.text}</code>` : p.text));

export function Text({ text }) {
  return blocks(text).map((b) => (b.code
    ? html`<figure class="code"><figcaption><span>${b.language}</span><${Copy} text=${b.text} /></figcaption><pre tabindex="0"><code>${b.text}</code></pre></figure>`
    : html`<div class="prose">${prose(b.text)}</div>`));
}

// Marked shows the spans of a snippet.
export const Marked = ({ text, spans }) => marked(text, spans).map((p) => (p.mark ? html`<mark>${p.text}</mark>` : p.text));
