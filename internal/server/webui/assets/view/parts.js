// The parts of a message as they are read: text, reasoning, calls of tools and their results,
// images, files.
import { html, useState } from './html.js';
import { FileLink, Picture } from './attached.js';
import { icon } from './icons.js';
import { Chips, Refusals } from './references.js';
import { Content, Text } from './text.js';
import { startedBy } from '../state/agents.js';
import { titleOf } from '../state/conversations.js';
import { brief, firstLine, onlyThought, original, pretty, readable, taskOf } from '../state/message.js';
import { href } from '../state/place.js';
import { read } from '../state/reader.js';
import { chipped, pictured, referred, typed, withPictures } from '../state/reference.js';
import { t } from '../state/words.js';

// Line is one quiet line that opens; what is inside is made only then.
function Line({ cls = '', name, brief: line, open: first = false, children }) {
  const [open, setOpen] = useState(first);
  return html`<details class=${'line ' + cls} open=${open} onToggle=${(e) => setOpen(e.currentTarget.open)}>
    <summary><b>${name}</b>${line && html`<span class="brief">${line}</span>`}</summary>
    ${open && html`<div class="inside">${children}</div>`}
  </details>`;
}

// Reasoning is folded, unless it is all that was said; its line says how long the model thought, where that is known.
export const Reasoning = ({ text, writing, took, open }) => html`<${Line} cls="reasoning" open=${open} name=${writing ? t('thinking') : took ? t('thoughtFor', took) : t('reasoning')} brief=${writing ? firstLine(text) : ''}>
  <div class="prose">${text}</div><//>`;

// Agent leads to the conversation of the sub-agent that a call started.
const Agent = ({ id, call }) => {
  const c = startedBy(id, call);
  return c && html`<a class="link agent" href=${href(c.id)} title=${titleOf(c)}>${icon('agent')}${t('openAgent')}</a>`;
};

export function Call({ call, conversation }) {
  const task = taskOf(call);
  if (task === null) return html`<${Line} cls="call" name=${call.name} brief=${brief(call.arguments)}><pre>${pretty(call.arguments)}</pre><//>`;
  return html`<div class="calls"><${Line} cls="call" name=${`${call.name} · ${t('task')}`} brief=${firstLine(task)}><div class="prose">${task}</div><//>
    <${Agent} id=${conversation} call=${call.id} /></div>`;
}

export function Result({ result, conversation }) {
  const ref = original(result);
  return html`<${Line} cls=${'result' + (result.is_error ? ' bad' : '')} name=${`${result.name || t('tool')} → ${t('result')}`} brief=${firstLine(result.text)}>
    <pre>${readable(result.text) || t('noText')}</pre>
    ${ref && html`<button type="button" class="link" onClick=${() => read(conversation, ref, result.name)}>${t('wholeOutput')}</button>`}
  <//>`;
}

// Part is one part of what was not said by a person, of a message where it is stored; took is
// how long its model thought.
export function Part({ part: p, id, took, message }) {
  switch (p.type) {
    case 'text': return message ? html`<${Content} message=${message} part=${p} />` : html`<${Text} text=${p.text} />`;
    case 'reasoning': return p.text ? html`<${Reasoning} text=${p.text} took=${took} open=${Boolean(message) && onlyThought(message)} />` : null;
    case 'tool_call': return html`<${Call} call=${p} conversation=${id} />`;
    case 'tool_result': return html`<${Result} result=${p} conversation=${id} />`;
    case 'image': return html`<${Picture} image=${p} id=${id} />`;
    case 'file': return html`<${FileLink} file=${p} id=${id} />`;
    default: return null;
  }
}

// Said is what a person wrote and attached, and what was read for it. An image that stands for
// Markdown is shown in its place; addresses in a text are never loaded.
export function Said({ parts: ps, id, fresh = [], message }) {
  const { attached, named, marks } = pictured(ps);
  const images = [...named, ...attached.filter((p) => p.type === 'image')];
  const files = attached.filter((p) => p.type === 'file');
  const chips = chipped(ps, marks);
  const words = message && !marks.length ? ps.filter((p) => p.type === 'text' && !p.reference).map((p) => html`<${Content} message=${message} part=${p} />`)
    : withPictures(typed(ps), marks).map((x) => (x.image ? html`<${Picture} image=${x.image} id=${id} />` : html`<${Text} text=${x.text} />`));
  return html`${words}
    ${images.length > 0 && html`<div class="pictures">${images.map((p) => html`<${Picture} image=${p} id=${id} />`)}</div>`}
    ${files.length > 0 && html`<div class="files">${files.map((p) => html`<${FileLink} file=${p} id=${id} />`)}</div>`}
    <${Chips} chips=${chips} parts=${ps} conversation=${id} />${referred(ps).length === 0 && html`<${Refusals} references=${fresh} />`}`;
}
