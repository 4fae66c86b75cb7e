// The blocks of a request: one for each layer, its tokens at the right, its colour at the left.
import { html, useState } from './html.js';
import { icon } from './icons.js';
import { Card, More, range } from './modelcards.js';
import { Parts, Raw } from './rawtext.js';
import { segments } from '../state/cards.js';
import { num } from '../state/figures.js';
import { first, last, runs, stands } from '../state/layers.js';
import { lit } from '../state/lit.js';
import { roleName } from '../state/message.js';
import { pieces, about } from '../state/pieces.js';
import { href } from '../state/place.js';
import { by as summaryBy } from '../state/receipts.js';
import { conversation } from '../state/thread.js';
import { t } from '../state/words.js';

const icons = { instructions: 'book', tools: 'tool', environment: 'web', summary: 'lines', compacted: 'compact', pins: 'pin', messages: 'person',
  request: 'web', acknowledgement: 'check', draft: 'pencil' };

const Title = ({ kind, sub, tokens, name }) => html`<h2 class="says">${icon(icons[kind])}<b>${name || t('model.' + kind)}</b>
  ${sub && html`<span class="sub" title=${sub}>${sub}</span>`}<span class="weight"><span class="unseen">${t('tokens', tokens)}</span><span aria-hidden="true">${num(tokens)}</span></span></h2>`;

const Seq = ({ seq }) => html`<a class="at" href=${href(conversation.value.id, seq)}>#${num(seq)}</a>`;

// Block is a layer, or a message of one: what stands beside it, its rail, and what it holds.
const Block = ({ kind, at, cls = '', children, ...rest }) => html`<div class=${`layer l-${kind} ${cls}`} data-stop tabindex="-1" role=${rest['aria-label'] ? 'group' : null} ...${rest}>
  <div class="beside">${at}</div><i class="rail" aria-hidden="true" /><div class="held">${children}</div></div>`;

// Fence is what opens and closes the block of what was compacted, as it is sent.
function Fence({ text }) {
  const [all, setAll] = useState(false);
  return text && html`<button type="button" class=${`literal fence${all ? ' all' : ''}`} aria-expanded=${all} onClick=${() => setAll(!all)}>${text.trim()}</button>`;
}

const recall = (name) => name.startsWith('context_');

function Tool({ tool }) {
  const [open, setOpen] = useState(false);
  return html`<li><button type="button" class="literal" aria-expanded=${open} onClick=${() => setOpen(!open)}>${tool.name}</button>
    ${open && html`<div class="raw">${tool.description}</div><p class="faint">${t('model.parameters')}</p><div class="raw literal">${JSON.stringify(tool.parameters, null, 2)}</div>`}</li>`;
}

function Tools({ block: b }) {
  const tools = b.items.flatMap((x) => x.tools || []);
  const sub = tools.length > 0 && tools.every((x) => recall(x.name)) ? t('model.toolsRecall', tools.length) : t('model.toolsAbout', tools.length);
  return html`<${Block} kind="tools"><${Title} kind="tools" tokens=${b.tokens} sub=${sub} /><ul class="toolnames">${tools.map((x) => html`<${Tool} key=${x.name} tool=${x} />`)}</ul><//>`;
}

function Summary({ block: b }) {
  const one = b.items[0];
  const made = segments.value.get(one.ref);
  const by = summaryBy(made);
  return html`<${Block} kind="summary">
    <${Title} kind="summary" tokens=${b.tokens} sub=${t('model.summaryAbout', range(one.seq || 1, last(b.items[b.items.length - 1])), by)} /><${Fence} text=${b.open} />
    ${b.items.map((x) => html`<${Parts} parts=${x.parts} few=${true} />`)}<${Fence} text=${b.close} /><//>`;
}

const Compacted = ({ block: b }) => html`<${Block} kind="compacted">
  <${Title} kind="compacted" tokens=${b.tokens} sub=${t('model.compactedAbout', stands(b.items), b.items.length)} /><${Fence} text=${b.open} />
  ${b.items.map((x) => html`<${Card} key=${x.ref || x.seq} item=${x} />`)}<${Fence} text=${b.close} /><//>`;

const Pins = ({ block: b }) => html`<${Block} kind="pins" at=${b.items.map((x) => html`<${Seq} key=${x.seq} seq=${x.seq} />`)}>
  <${Title} kind="pins" tokens=${b.tokens} sub=${t('model.pinsAbout')} />
  ${b.items.map((x) => html`<div key=${x.seq}><${Parts} parts=${x.parts} /></div>`)}<//>`;

const Plain = ({ block: b, sub, few }) => html`<${Block} kind=${b.kind}><${Title} kind=${b.kind} tokens=${b.tokens} sub=${sub} />
  ${b.items.map((x) => html`<${Parts} parts=${x.parts} mono=${b.kind !== 'instructions'} few=${few} />`)}<//>`;

function Environment({ block: b }) {
  const text = b.items.flatMap((x) => pieces(x.parts)).map((p) => p.text || '').join('\n');
  return html`<${Block} kind="environment"><${Title} kind="environment" tokens=${b.tokens} /><${Raw} text=${text} mono few=${true} /><//>`;
}

// Message is one of the live messages.
function Message({ item: x, joins }) {
  const mono = x.role !== 'user' || pieces(x.parts).some((p) => p.cut);
  const sub = about(x);
  return html`<${Block} kind="messages" cls=${`single${joins ? ' joins' : ''}${lit.value && lit.value === x.seq ? ' lit' : ''}`} data-seq=${x.seq || null} data-last=${x.last_seq || null}
      at=${x.seq && html`<${Seq} seq=${x.seq} />`} aria-label=${`${roleName(x.role)}${x.seq ? ` #${x.seq}` : ''}`}>
    <h3 class="says"><b>${roleName(x.role)}</b>${sub && html`<span class="sub">${sub}</span>`}<span class="weight"><span class="unseen">${t('tokens', x.tokens)}</span><span aria-hidden="true">${num(x.tokens)}</span></span></h3>
    <${Parts} parts=${x.parts} mono=${mono} few=${x.role === 'tool'} /><//>`;
}

const PAGE = 50; // messages of a run that are shown at once

// Run is a stretch of live messages that stands in one line until it is opened, and then shows a
// window of them that grows both ways. at is a message that it has to show.
function Run({ run: r, windows, show }) {
  const w = windows[r.first];
  const name = r.first ? range(r.first, r.last) : '';
  const from = w ? Math.min(w.from, r.run.length) : 0;
  const to = w ? Math.min(w.to, r.run.length) : 0;
  return html`<${Block} kind="messages" cls="run" at=${!w && r.first ? html`<${Seq} seq=${r.first} />` : null} data-seq=${w ? null : r.first} data-last=${w ? null : r.last}>
      <button type="button" class="runs" aria-expanded=${Boolean(w)} onClick=${() => show(r.first, w ? null : { from: Math.max(0, r.run.length - PAGE), to: r.run.length })}>
        ${icon('chevron')}<span>${t('model.run', r.run.length, name)}</span><span class="weight">${num(r.tokens)}</span></button>
      ${w && html`<${More} n=${from} said="model.aboveN" onClick=${() => show(r.first, { from: Math.max(0, from - PAGE), to })} />`}<//>
    ${w && r.run.slice(from, to).map((x, i) => html`<${Message} key=${x.seq || 'r' + (from + i)} item=${x} joins=${x.joined_with_next} />`)}
    ${w && to < r.run.length && html`<${Block} kind="messages" cls="run"><${More} n=${r.run.length - to} said="model.belowN" onClick=${() => show(r.first, { from, to: to + PAGE })} /><//>`}`;
}

// around is a window of a run about one of its messages.
export function around(items, seq) {
  const i = items.findIndex((x) => first(x) <= seq && seq <= last(x));
  return { from: Math.max(0, i - 5), to: Math.max(0, i - 5) + PAGE };
}

function Messages({ block: b, windows, show }) {
  const n = stands(b.items) || b.items.length;
  const list = runs(b.items);
  return html`<${Block} kind="messages" cls="heading"><${Title} kind="messages" tokens=${b.tokens} sub=${t('model.messagesAbout', n)} /><//>
    ${list.map((x, i) => (x.run ? html`<${Run} key=${'run' + x.first} run=${x} windows=${windows} show=${show} />`
      : html`<${Message} key=${x.item.seq || 'i' + i} item=${x.item} joins=${x.item.joined_with_next} />`))}`;
}

function Draft({ block: b, typed }) {
  const item = b.items[0];
  const counted = item.parts.some((p) => p.type === 'text' && p.text === typed); // else it was typed on
  const names = pieces(item.parts).filter((p) => p.name !== undefined).map((p) => p.name);
  return html`<${Block} kind="draft" at=${html`<span class="at">${t('model.draftAt')}</span>`}>
    <${Title} kind="draft" tokens=${b.tokens} sub=${names.length ? t('model.draftWith', names.join(', ')) : ''} />
    <${Parts} parts=${typed === null || counted ? item.parts : [{ type: 'text', text: typed }, ...item.parts.filter((p) => p.type !== 'text')]} /><//>`;
}

export function Layer({ block: b, windows, show, typed }) {
  switch (b.kind) {
    case 'instructions': return html`<${Plain} block=${b} sub=${t('model.instructionsAbout')} few=${true} />`;
    case 'tools': return html`<${Tools} block=${b} />`;
    case 'environment': return html`<${Environment} block=${b} />`;
    case 'summary': return html`<${Summary} block=${b} />`;
    case 'compacted': return html`<${Compacted} block=${b} />`;
    case 'pins': return html`<${Pins} block=${b} />`;
    case 'messages': return html`<${Messages} block=${b} windows=${windows} show=${show} />`;
    case 'draft': return html`<${Draft} block=${b} typed=${typed} />`;
    case 'acknowledgement': return html`<${Plain} block=${b} sub=${t('model.acknowledgementAbout')} />`;
    default: return html`<${Plain} block=${b} sub="" />`;
  }
}
