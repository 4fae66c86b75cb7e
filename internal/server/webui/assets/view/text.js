// A message's text: drawn by the server, raw as the model reads it, or plain while neither is
// there (whitespace as written, fenced code as blocks, `code` inline, nothing else).
import { html, useState } from './html.js';
import { Markup } from './markup.js';
import { raw } from '../state/raw.js';
import { open } from '../state/step.js';
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

// Content is one text of a stored message, drawn or raw.
export function Content({ message, part }) {
  const drawn = message.html && message.html[message.parts.indexOf(part)];
  if (raw(message)) return html`<div class="raw" dir="auto">${part.text}</div>`;
  return drawn ? html`<${Markup} html=${drawn} />` : html`<${Text} text=${part.text} />`;
}

// Written is the text of the step that is being written: its closed blocks drawn, each in a
// place of its own that stays as it is, and what is open plain.
export function Written({ step }) {
  const rest = open(step);
  return html`<div class="written">${step.blocks.map((b) => html`<${Markup} key=${b.index} html=${b.html} />`)}
    ${rest.trim() && html`<div class="open" key="open"><${Text} text=${rest} /></div>`}</div>`;
}

// Marked shows the spans of a snippet.
export const Marked = ({ text, spans }) => marked(text, spans).map((p) => (p.mark ? html`<mark>${p.text}</mark>` : p.text));
