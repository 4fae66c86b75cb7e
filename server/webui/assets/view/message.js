// One message, and the step that is being written, as they are read.
import { html, useState } from './html.js';
import { Button } from './icons.js';
import { About, Searched } from './sources.js';
import { Text } from './text.js';
import { fork, regenerate, retry, switchTo, versions } from '../state/branches.js';
import { edit } from '../state/draft.js';
import { bytes, clock, iso, whole } from '../state/figures.js';
import { artifactOf, brief, firstLine, original, pin, pinnable, pinned, pretty, readable, roleName } from '../state/message.js';
import { href } from '../state/place.js';
import { read } from '../state/reader.js';
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

export const Call = ({ call }) => html`<${Line} cls="call" name=${call.name} brief=${brief(call.arguments)}><pre>${pretty(call.arguments)}</pre><//>`;

export function Result({ result, conversation }) {
  const ref = original(result);
  return html`<${Line} cls=${'result' + (result.is_error ? ' bad' : '')} name=${`${result.name || t('tool')} → ${t('result')}`} brief=${firstLine(result.text)}>
    <pre>${readable(result.text) || t('noText')}</pre>
    ${ref && html`<button type="button" class="link" onClick=${() => read(conversation, ref, result.name)}>${t('wholeOutput')}</button>`}
  <//>`;
}

// Picture is an image, or a link to one at an address: nothing is fetched from elsewhere.
function Picture({ part: p, id }) {
  if (p.url) return /^https?:/i.test(p.url) && html`<a class="file" href=${p.url} target="_blank" rel="noopener noreferrer">${p.name || p.url}</a>`;
  return html`<img class="picture" loading="lazy" src=${artifactOf(p, id)} alt=${p.name || t('image')} width=${p.width} height=${p.height} />`;
}

function Part({ part: p, id }) {
  switch (p.type) {
    case 'text': return html`<${Text} text=${p.text} />`;
    case 'reasoning': return p.text ? html`<${Reasoning} text=${p.text} />` : null;
    case 'tool_call': return html`<${Call} call=${p} />`;
    case 'tool_result': return html`<${Result} result=${p} conversation=${id} />`;
    case 'image': return html`<${Picture} part=${p} id=${id} />`;
    case 'file': return html`<a class="file" href=${artifactOf(p, id)} download=${p.name}>${p.name || p.media_type} <span>${bytes(p.size)}</span></a>`;
    default: return null;
  }
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

export function Message({ message: m, meta, compacted, lit }) {
  const about = [whole(m.created_at), m.model, t('tokens', m.tokens)].filter(Boolean).join(' · ');
  return html`<article id=${'m' + m.seq} data-seq=${m.seq} class=${`msg ${m.role}${compacted ? ' compacted' : ''}${lit ? ' lit' : ''}`} aria-label=${`${roleName(m.role)} #${m.seq}`}>
    <header>
      <span class="who">${roleName(m.role)}${m.name ? ` · ${m.name}` : ''}</span>
      <a class="seq" href=${href(m.conversation_id, m.seq)} title=${compacted ? t('compactedHint') : null}>#${m.seq}</a>
      ${m.status !== 'complete' && html`<span class=${'status ' + m.status}>${t(m.status)}</span>`}
      <${Ways} message=${m} />
      <time datetime=${iso(m.created_at)} title=${about}>${clock(m.created_at)}</time>
    </header>
    <div class="body">${m.parts.map((p) => html`<${Part} part=${p} id=${m.conversation_id} />`)}<${About} meta=${meta} /></div>
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
      ${step && step.text && html`<${Text} text=${step.text} />`}
      ${step && step.calls.map((c) => html`<${Call} key=${c.id} call=${c} />`)}
      ${step && step.results.map((r) => html`<${Result} key=${r.call_id} result=${r} conversation=${conversation} />`)}
    </div>
  </article>`;
}

// Asked is the user's message until it is stored.
export const Asked = ({ text }) => html`<article class="msg user asked"><header><span class="who">${t('you')}</span></header>
  <div class="body"><${Text} text=${text} /></div></article>`;
