// Schemas as lists of fields, which open where a field has fields of its own.
import { html, useState } from '../view/html.js';
import { fieldsOf, typeOf } from './reference.js';
import { say } from './words.js';

// Prose is text with paragraphs and `code`.
export function Prose({ text }) {
  return (text || '').split(/\n{2,}/).filter(Boolean).map((p) => html`<p class="prose">${p.split(/`([^`]+)`/).map((s, i) => (i % 2 ? html`<code>${s}</code>` : s))}</p>`);
}

export const Type = ({ doc, schema }) => html`<code class="type">${typeOf(doc, schema)}</code>`;

// Fields shows those of a schema: at once, or behind a line that opens them.
export function Fields({ doc, schema, open, label }) {
  const [shown, setShown] = useState(!!open);
  const fields = fieldsOf(doc, schema);
  if (!fields.length) return open ? html`<p class="field"><${Type} doc=${doc} schema=${schema} /></p>` : null;
  const list = () => html`<ul class="fields">${fields.map((f) => html`<li key=${f.name}>
    <p class="field"><code class="name">${f.name}</code>${f.type && html`<code class="type">${f.type}</code>`}${f.required && open && html`<small class="must">${say('required')}</small>`}</p>
    <${Prose} text=${f.description} />
    <${Fields} doc=${doc} schema=${f.schema} label=${f.form ? '' : undefined} /></li>`)}</ul>`;
  if (open) return list();
  return html`<details class="more" onToggle=${(e) => setShown(e.target.open)}><summary aria-label=${label}>${fields.map((f) => f.name).join(', ')}</summary>${shown && list()}</details>`;
}
