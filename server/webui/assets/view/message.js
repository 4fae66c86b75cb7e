// One message, and the step that is being written, as they are read.
import { html, useState } from './html.js';
import { FileLink, Picture } from './attached.js';
import { Button, icon } from './icons.js';
import { Chips, Refusals } from './references.js';
import { About, Searched } from './sources.js';
import { Content, Text, Written } from './text.js';
import { startedBy } from '../state/agents.js';
import { fork, regenerate, retry, switchTo, versions } from '../state/branches.js';
import { titleOf } from '../state/conversations.js';
import { edit } from '../state/draft.js';
import { clock, iso, whole } from '../state/figures.js';
import { brief, firstLine, original, pin, pinnable, pinned, pretty, readable, roleName, taskOf } from '../state/message.js';
import { href } from '../state/place.js';
import { read } from '../state/reader.js';
import { chipped, pictured, referred, typed, withPictures } from '../state/reference.js';
import { belongs, cause, mark, parts, stateOf, todo, why } from '../state/trouble.js';
import { t } from '../state/words.js';

// Line is one quiet line that opens; what is inside is made only then.
function Line({ cls = '', name, brief: line, open: first = false, children }) {
  const [open, setOpen] = useState(first);
  return html`<details class=${'line ' + cls} open=${open} onToggle=${(e) => setOpen(e.currentTarget.open)}>
    <summary><b>${name}</b>${line && html`<span class="brief">${line}</span>`}</summary>
    ${open && html`<div class="inside">${children}</div>`}
  </details>`;
}

const Reasoning = ({ text, writing }) => html`<${Line} cls="reasoning" name=${writing ? t('thinking') : t('reasoning')} brief=${firstLine(text)}>
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

function Part({ part: p, id, message }) {
  switch (p.type) {
    case 'text': return message ? html`<${Content} message=${message} part=${p} />` : html`<${Text} text=${p.text} />`;
    case 'reasoning': return p.text ? html`<${Reasoning} text=${p.text} />` : null;
    case 'tool_call': return html`<${Call} call=${p} conversation=${id} />`;
    case 'tool_result': return html`<${Result} result=${p} conversation=${id} />`;
    case 'image': return html`<${Picture} image=${p} id=${id} />`;
    case 'file': return html`<${FileLink} file=${p} id=${id} />`;
    default: return null;
  }
}

// Said is what a person wrote and attached, and what was read for it. An image that stands for
// Markdown is shown in its place; addresses in a text are never loaded.
function Said({ parts: ps, id, fresh = [], message }) {
  const { attached, named, marks } = pictured(ps);
  const images = [...named, ...attached.filter((p) => p.type === 'image')];
  const files = attached.filter((p) => p.type === 'file');
  const chips = chipped(ps, marks);
  return html`${message && !marks.length ? ps.filter((p) => p.type === 'text' && !p.reference).map((p) => html`<${Content} message=${message} part=${p} />`) : withPictures(typed(ps), marks).map((x) => (x.image ? html`<${Picture} image=${x.image} id=${id} />` : html`<${Text} text=${x.text} />`))}
    ${images.length > 0 && html`<div class="pictures">${images.map((p) => html`<${Picture} image=${p} id=${id} />`)}</div>`}
    ${files.length > 0 && html`<div class="files">${files.map((p) => html`<${FileLink} file=${p} id=${id} />`)}</div>`}
    <${Chips} chips=${chips} parts=${ps} conversation=${id} />${referred(ps).length === 0 && html`<${Refusals} references=${fresh} />`}`;
}

// Ways are what can be done from a message: switching to another version, editing it or asking
// again, pinning it, continuing from it elsewhere.
function Ways({ message: m }) {
  const v = versions(m);
  return html`<span class="ways">
    ${v && html`<span class="versions">
      <button type="button" aria-label=${t('earlierVersion')} disabled=${v.at < 1} onClick=${() => switchTo(v.list[v.at - 1])}>‹</button>${v.at + 1}/${v.list.length}<button
        type="button" aria-label=${t('laterVersion')} disabled=${v.at > v.list.length - 2} onClick=${() => switchTo(v.list[v.at + 1])}>›</button></span>`}
    ${m.role === 'user' && html`<${Button} name="pencil" label=${t('editAsk')} cls="small" onClick=${() => edit(m)} />`}
    ${m.role === 'assistant' && html`<${Button} name="restore" label=${t('regenerate')} cls="small" onClick=${() => regenerate(m)} />`}
    ${pinnable(m) && html`<${Button} name="pin" label=${pinned(m) ? t('unpin') : t('pin')} pressed=${pinned(m)} cls="small" onClick=${() => pin(m)} />`}
    ${(m.role === 'user' || m.role === 'assistant') && html`<${Button} name="fork" label=${t('forkHere')} cls="small" onClick=${() => fork(m)} />`}
  </span>`;
}

export function Message({ message: m, meta, fresh, compacted, lit }) {
  const about = [whole(m.created_at), m.model, t('tokens', m.tokens)].filter(Boolean).join(' · ');
  return html`<article id=${'m' + m.seq} data-seq=${m.seq} class=${`msg ${m.role}${compacted ? ' compacted' : ''}${lit ? ' lit' : ''}`} aria-label=${`${roleName(m.role)} #${m.seq}`}>
    <header>
      <span class="who">${roleName(m.role)}${m.name ? ` · ${m.name}` : ''}</span>
      <a class="seq" href=${href(m.conversation_id, m.seq)} title=${compacted ? t('compactedHint') : null}>#${m.seq}</a>
      ${m.status !== 'complete' && html`<span class=${'status ' + m.status}>${t(m.status)}</span>`}
      <${Ways} message=${m} />
      <time datetime=${iso(m.created_at)} title=${about}>${clock(m.created_at)}</time>
    </header>
    <div class="body">${m.role === 'user' ? html`<${Said} parts=${m.parts} id=${m.conversation_id} fresh=${fresh} message=${m} />`
      : m.parts.map((p) => html`<${Part} part=${p} id=${m.conversation_id} message=${m} />`)}<${About} meta=${meta} /></div>
  </article>`;
}

// Unanswered is a turn without a stored answer: what it wrote, why it ended so, what to
// do, and another try. Right under its own message it needs no head.
export function Unanswered({ entry: e, meta, after, conversation, busy }) {
  const at = e.ended_at || e.started_at;
  const lines = [[why(e), ''], [cause(e), 'cause'], [todo(e), 'todo']].filter(([text]) => text);
  const own = belongs(e, after);
  if (own && !lines.length && !e.retry) return null;
  return html`<article class=${`msg assistant unanswered ${mark(e)}${own ? ' belongs' : ''}`} aria-label=${`${t('assistant')}: ${stateOf(e)}`}>
    ${!own && html`<header><span class="who">${t('assistant')}</span><span class=${'status ' + mark(e)}>${stateOf(e)}</span><span class="ways" />
      <time datetime=${iso(at)} title=${[whole(at), e.model].filter(Boolean).join(' · ')}>${clock(at)}</time></header>`}
    <div class="body">${parts(e).map((p) => html`<${Part} part=${p} id=${conversation} />`)}
      ${(lines.length > 0 || e.retry) && html`<div class="trouble">${lines.map(([text, cls]) => html`<p class=${cls}>${text}</p>`)}
        ${e.retry && html`<button type="button" class="plain" disabled=${busy} onClick=${retry}>${t('retry')}</button>`}</div>`}
      <${About} meta=${meta} />
    </div>
  </article>`;
}

// Writing is the step that is being written.
export function Writing({ step, searching, searches, conversation }) {
  const idle = !step || (!step.text && !step.calls.length);
  return html`<article class="msg assistant writing" aria-label=${t('answering')}>
    <header><span class="who">${t('assistant')}</span><span class="dots" role="status" aria-label=${t('answering')}><i /><i /><i /></span></header>
    <div class="body">
      ${searching && html`<p class="searched" role="status">${t('searching')}</p>`}<${Searched} searches=${searches} />
      ${step && step.reasoning && html`<${Reasoning} text=${step.reasoning} writing=${idle} />`}
      ${step && step.text && html`<${Written} step=${step} />`}
      ${step && step.calls.map((c) => html`<${Call} key=${c.id} call=${c} conversation=${conversation} />`)}
      ${step && step.results.map((r) => html`<${Result} key=${r.call_id} result=${r} conversation=${conversation} />`)}
    </div>
  </article>`;
}

// Asked is the user's message until it is stored.
export const Asked = ({ parts: ps, id, references }) => html`<article class="msg user asked"><header><span class="who">${t('you')}</span></header>
  <div class="body"><${Said} parts=${ps} id=${id} fresh=${references} /></div></article>`;
