// One message, and the step that is being written, as they are read.
import { html, useState } from './html.js';
import { again, editing, fork, over, versions } from './branches.js';
import { Button } from './icons.js';
import { look } from './context.js';
import { href } from './place.js';
import { Text } from './text.js';
import { change, conversation } from './thread.js';
import { reading } from './ui.js';
import { bytes, clock, iso, num, t, whole } from './words.js';

const pretty = (json) => {
  try { return JSON.stringify(typeof json === 'string' ? JSON.parse(json) : json, null, 2); } catch { return String(json); }
};
const brief = (json) => (typeof json === 'string' ? json : JSON.stringify(json)) || '';
const readable = (text) => (/^\s*[[{]/.test(text || '') ? pretty(text) : text);
const firstLine = (text) => (text || '').trimStart().split('\n', 1)[0].slice(0, 160);

// Fold is one quiet line that opens; what is inside is made only then.
export function Fold({ cls = '', name, brief: line, open: first = false, children }) {
  const [open, setOpen] = useState(first);
  return html`<details class=${'line ' + cls} open=${open} onToggle=${(e) => setOpen(e.currentTarget.open)}>
    <summary><b>${name}</b>${line && html`<span class="brief">${line}</span>`}</summary>
    ${open && html`<div class="inside">${children}</div>`}
  </details>`;
}

const Reasoning = ({ text, writing }) => html`<${Fold} cls="reasoning" name=${writing ? t('thinking') : t('reasoning')} brief=${firstLine(text)}>
  <div class="prose">${text}</div><//>`;

export const Call = ({ call }) => html`<${Fold} cls="call" name=${call.name} brief=${brief(call.arguments)}><pre>${pretty(call.arguments)}</pre><//>`;

export function Result({ result, conversation }) {
  const whole = result.artifact ? 'artifact:' + result.artifact : result.ref;
  return html`<${Fold} cls=${'result' + (result.is_error ? ' bad' : '')} name=${`${result.name || t('tool')} → ${t('result')}`} brief=${firstLine(result.text)}>
    <pre>${readable(result.text) || t('noText')}</pre>
    ${whole && html`<button type="button" class="link" onClick=${() => { reading.value = { conversation, ref: whole, title: result.name }; }}>${t('wholeOutput')}</button>`}
  <//>`;
}

const artifact = (p, id) => `/api/artifacts/${p.artifact}?conversation=${encodeURIComponent(id)}`;

function Part({ part: p, id }) {
  switch (p.type) {
    case 'text': return html`<${Text} text=${p.text} />`;
    case 'reasoning': return p.text ? html`<${Reasoning} text=${p.text} />` : null;
    case 'tool_call': return html`<${Call} call=${p} />`;
    case 'tool_result': return html`<${Result} result=${p} conversation=${id} />`;
    case 'image': return html`<img class="picture" loading="lazy" src=${artifact(p, id)} alt=${p.name || t('image')} width=${p.width} height=${p.height} />`;
    case 'file': return html`<a class="file" href=${artifact(p, id)} download=${p.name}>${p.name || p.media_type} <span>${bytes(p.size)}</span></a>`;
    default: return null;
  }
}

const who = (m) => (m.role === 'user' ? t('you') : m.role === 'assistant' ? t('assistant') : m.role === 'tool' ? t('tool') : t('system'));

// What somebody said can be pinned: it stays in the model's sight when it is folded.
const pinnable = (m) => (m.role === 'user' || m.role === 'assistant') && !m.parts.some((p) => p.type === 'tool_call');
const pins = () => (conversation.value && conversation.value.pinned_seqs) || [];
const pinned = (m) => pins().includes(m.seq);

async function pin(m) {
  const seqs = pinned(m) ? pins().filter((s) => s !== m.seq) : [...pins(), m.seq];
  if (await change({ pinned_seqs: seqs })) look(conversation.value.id);
}

// Ways are what can be done from a message: its other versions, writing it or its answer anew,
// going on from it elsewhere.
function Ways({ message: m }) {
  const v = versions(m);
  return html`<span class="ways">
    ${v && html`<span class="versions">
      <button type="button" aria-label=${t('earlierVersion')} disabled=${v.at < 1} onClick=${() => over(v.list[v.at - 1])}>‹</button>${v.at + 1}/${v.list.length}<button
        type="button" aria-label=${t('laterVersion')} disabled=${v.at > v.list.length - 2} onClick=${() => over(v.list[v.at + 1])}>›</button></span>`}
    ${m.role === 'user' && html`<${Button} name="pencil" label=${t('editAsk')} cls="small" onClick=${() => { editing.value = m; }} />`}
    ${m.role === 'assistant' && html`<${Button} name="restore" label=${t('answerAnew')} cls="small" onClick=${() => again(m)} />`}
    ${pinnable(m) && html`<${Button} name="pin" label=${pinned(m) ? t('unpin') : t('pin')} pressed=${pinned(m)} cls="small" onClick=${() => pin(m)} />`}
    ${(m.role === 'user' || m.role === 'assistant') && html`<${Button} name="fork" label=${t('forkHere')} cls="small" onClick=${() => fork(m)} />`}
  </span>`;
}

export function Message({ message: m, folded, lit }) {
  const about = [whole(m.created_at), m.model, `${num(m.tokens)} token`].filter(Boolean).join(' · ');
  return html`<article id=${'m' + m.seq} data-seq=${m.seq} class=${`msg ${m.role}${folded ? ' folded' : ''}${lit ? ' lit' : ''}`} aria-label=${`${who(m)} #${m.seq}`}>
    <header>
      <span class="who">${who(m)}${m.name ? ` · ${m.name}` : ''}</span>
      <a class="seq" href=${href(m.conversation_id, m.seq)} title=${folded ? t('foldedHint') : null}>#${m.seq}</a>
      ${m.status !== 'complete' && html`<span class=${'status ' + m.status}>${t(m.status)}</span>`}
      <${Ways} message=${m} />
      <time datetime=${iso(m.created_at)} title=${about}>${clock(m.created_at)}</time>
    </header>
    <div class="body">${m.parts.map((p) => html`<${Part} part=${p} id=${m.conversation_id} />`)}</div>
  </article>`;
}

// Writing is the step that is being written.
export function Writing({ step, conversation }) {
  const idle = !step || (!step.text && !step.calls.length);
  return html`<article class="msg assistant writing" aria-label=${t('answering')}>
    <header><span class="who">${t('assistant')}</span><span class="dots" role="status" aria-label=${t('answering')}><i /><i /><i /></span></header>
    <div class="body">
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
