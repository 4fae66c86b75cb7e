// What a message refers to, as quiet chips below it.
import { html } from './html.js';
import { icon } from './icons.js';
import { facts, iconOf, open, sizeOf, troubleOf } from '../state/reference.js';
import { t } from '../state/words.js';

function Chip({ part, parts, conversation }) {
  const r = part.reference;
  const name = r.source || r.mark;
  if (r.error) return html`<li class="chip bad" title=${r.error}>${icon('warning')}<b>${name}</b><span>${troubleOf(r)}</span></li>`;
  return html`<li><button type="button" class="chip" title=${[name, sizeOf(r)].filter(Boolean).join(' · ')} onClick=${() => open(conversation, part, parts)}>
    ${icon(iconOf(r))}<b>${name}</b>${facts(r).map((x) => html`<span>${x}</span>`)}</button></li>`;
}

// Chips are for parts of a message.
export const Chips = ({ chips, parts, conversation }) => chips.length > 0 && html`<ul class="chips" aria-label=${t('references')}>
  ${chips.map((p) => html`<${Chip} part=${p} parts=${parts} conversation=${conversation} />`)}</ul>`;

// Refusals are what a message that is on its way could not refer to.
export function Refusals({ references }) {
  const failed = references.filter((r) => r.error).map((reference) => ({ reference }));
  return failed.length > 0 && html`<div role="alert"><${Chips} chips=${failed} parts=${failed} /></div>`;
}
