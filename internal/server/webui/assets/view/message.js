// One message as it is read, a turn that has no answer, and the step that is being written.
import { html } from './html.js';
import { Ways } from './ways.js';
import { icon } from './icons.js';
import { Call, Part, Reasoning, Result, Said } from './parts.js';
import { About, Searched } from './sources.js';
import { Written } from './text.js';
import { Trace } from './trace.js';
import { retry, withoutIt } from '../state/branches.js';
import { num, seconds, whole } from '../state/figures.js';
import * as leftout from '../state/leftout.js';
import { say } from '../state/notices.js';
import { mayWrite } from '../state/session.js';
import * as keyboard from '../state/keyboard.js';
import { pin, pinnable, pinned, roleName } from '../state/message.js';
import { href } from '../state/place.js';
import { current } from '../state/thread.js';
import { recalls } from '../state/trace.js';
import { belongs, cause, lasted, mark, parts, stateOf, suspect, todo, why } from '../state/trouble.js';
import { t } from '../state/words.js';

// Gutter names the message, and shows that it is pinned.
function Gutter({ message: m, compacted }) {
  const about = [whole(m.created_at), m.model, t('tokens', m.tokens), compacted ? t('compactedHint') : ''].filter(Boolean).join(' · ');
  return html`<div class="gutter"><a class="seq" tabindex="-1" href=${href(m.conversation_id, m.seq)} title=${about}>#${num(m.seq)}</a>
    ${pinnable(m) && pinned(m) && html`<button type="button" class="pinned" tabindex="-1" disabled=${!mayWrite.value} aria-label=${t('unpin')} title=${t('unpin')} onClick=${() => pin(m)}>${icon('pin')}</button>`}</div>`;
}

// Looked are a message's parts in their order, with what its look-ups found; results are those
// of its calls, by the id of the call, each with the seq of its message.
function Looked({ message: m, results, took }) {
  const first = m.parts.find((p) => p.type === 'reasoning' && p.text);
  return html`${took && !first && html`<p class="thought">${t('thoughtFor', took)}</p>`}${m.parts.map((p) => {
    const found = p.type === 'tool_call' && recalls(p.name) ? results[p.id] : undefined;
    return p.type === 'tool_call' && recalls(p.name)
      ? html`<${Trace} key=${p.id} call=${p} result=${found && found.result} seqs=${[m.seq, found ? found.seq : m.seq]} conversation=${m.conversation_id} />`
      : html`<${Part} part=${p} id=${m.conversation_id} took=${p === first ? took : ''} message=${m} />`;
  })}`;
}

// bare says that a message is nothing but look-ups, which name their numbers themselves.
const bare = (m) => m.role === 'assistant' && m.parts.some((p) => p.type === 'tool_call') && m.parts.every((p) => (p.type === 'tool_call' && recalls(p.name)) || p.type === 'reasoning');

// LeftOut marks a message that requests leave out, and takes it back.
function LeftOut({ message: m }) {
  const back = () => {
    leftout.takeBack(m.conversation_id, m.seq);
    say(t('leftout.again', num(m.seq)));
    document.getElementById('m' + m.seq).focus({ preventScroll: true }); // the button is gone
  };
  return html`<p class="kind without"><span class="status" title=${t('leftout.hint')}>${t('leftout.mark')}</span>
    ${mayWrite.value && html`<button type="button" class="link" aria-label=${t('leftout.backOf', num(m.seq))} onClick=${back}>${t('leftout.back')}</button>`}</p>`;
}

export function Message({ message: m, meta, took, fresh, results, told, left, compacted, going, lit, pointed, last, began }) {
  const cls = ['msg', m.role, compacted && 'compacted', going && 'going', lit && 'lit', pointed && 'pointed', last && 'last', current.value === m.seq && 'current',
    bare(m) && 'bare', told && 'told', left && 'leftout'];
  const said = m.role === 'user' || m.role === 'assistant';
  return html`<article id=${'m' + m.seq} data-seq=${m.seq} tabindex="-1" class=${cls.filter(Boolean).join(' ')} aria-label=${`${roleName(m.role)}${m.name ? ` ${m.name}` : ''} #${m.seq}`}
    onClick=${() => { current.value = m.seq; }}>
    ${!told && html`<${Gutter} message=${m} compacted=${compacted} />
    <div class="content">
      ${(m.name || m.status !== 'complete' || !said) && html`<p class="kind">${(m.name || m.role === 'system') && html`<span class="who">${roleName(m.role)}${m.name ? ` · ${m.name}` : ''}</span>`}
        ${m.status !== 'complete' && html`<span class=${'status ' + m.status}>${t(m.status)}</span>`}</p>`}
      ${left && html`<${LeftOut} message=${m} />`}
      <div class="body">${m.role === 'user' ? html`<${Said} parts=${m.parts} id=${m.conversation_id} fresh=${fresh} message=${m} />`
        : html`<${Looked} message=${m} results=${results || {}} took=${took} />`}<${About} meta=${meta} /></div>
      ${said && !bare(m) && html`<${Ways} message=${m} began=${began} last=${last} />`}
    </div>`}
  </article>`;
}

// otherModel opens the list of models where the next message is written.
function otherModel() {
  const button = document.querySelector('.composer .model');
  if (!keyboard.run('models') && button) button.click();
}

// without goes on without the message that is refused; where that is the newest question, what is
// written next is sent without it.
async function without(seq) {
  if (await withoutIt(seq)) return;
  say(t('leftout.done', num(seq)));
  const box = document.querySelector('.composer textarea');
  if (box) box.focus({ preventScroll: true });
}

// Ways out of a turn without an answer. Where its question is left out there is nothing to answer.
function Out({ entry: e, after, busy, bad }) {
  const seq = suspect(e);
  const own = seq === after.seq;
  if (!e.retry || !mayWrite.value || !leftout.asks.value) return null;
  const again = !(e.error && e.error.permanent);
  return html`<div class="do">
      ${seq > 0 && html`<button type="button" class="plain strong" disabled=${busy} onClick=${() => without(seq)}>${t(own ? 'leftout.go' : 'leftout.goOf', num(seq))}</button>`}
      <button type="button" class=${'plain' + (again ? ' strong' : '')} disabled=${busy} onClick=${retry}>${icon('retry')}${t('trouble.retry')}</button>
      ${bad && html`<button type="button" class="plain" disabled=${busy} onClick=${otherModel}>${t('trouble.model')}</button>`}</div>`;
}

// Trouble says why there is no answer, and what can be done at once.
function Trouble({ entry: e, after, busy }) {
  const went = e.retry && !leftout.asks.value;
  const lines = [[cause(e), 'cause'], [went ? t('leftout.next') : todo(e), 'todo'], [lasted(e), 'lasted']].filter(([text]) => text);
  const said = why(e);
  const bad = mark(e) === 'failed';
  return html`<div class="trouble" role=${bad ? 'alert' : null} title=${[whole(e.ended_at || e.started_at), e.model].filter(Boolean).join(' · ')}>${icon(bad ? 'warning' : 'stop')}
    <div class="told"><p class="why">${bad ? t(e.content || e.message_id ? 'trouble.broke' : 'trouble.none', said || stateOf(e)) : said || t('trouble.' + (e.state === 'interrupted' ? 'cut' : 'ended'))}</p>${lines.map(([text, cls]) => html`<p class=${cls}>${text}</p>`)}</div>
    <${Out} entry=${e} after=${after} busy=${busy} bad=${bad} /></div>`;
}

// Unanswered is a turn without a stored answer: what it wrote, why it ended so, what to
// do, and another try. Right under its own message it needs no head.
export function Unanswered({ entry: e, meta, after, conversation, busy }) {
  const own = belongs(e, after);
  if (own && !why(e) && !cause(e) && !todo(e) && !e.retry) return null;
  return html`<article class=${`msg assistant unanswered ${mark(e)}${own ? ' belongs' : ''}`} aria-label=${`${t('assistant')}: ${stateOf(e)}`}>
    <div class="gutter" />
    <div class="content"><div class="body">${parts(e).map((p) => html`<${Part} part=${p} id=${conversation} />`)}<${Trouble} entry=${e} after=${after} busy=${busy} /><${About} meta=${meta} /></div></div>
  </article>`;
}

// Writing is the step that is being written.
export function Writing({ step, searching, searches, conversation }) {
  const idle = !step || (!step.text && !step.calls.length);
  const found = (id) => step.results.find((r) => r.call_id === id);
  return html`<article class="msg assistant writing" aria-label=${t('answering')} aria-busy="true"><div class="gutter" />
    <div class="content"><div class="body">
      ${searching && html`<p class="searched" role="status">${t('searching')}</p>`}<${Searched} searches=${searches} />
      ${step && step.reasoning && html`<${Reasoning} text=${step.reasoning} writing=${idle} />`}
      ${step && step.text && html`<${Written} step=${step} />`}
      ${step && step.calls.map((c) => (recalls(c.name) ? html`<${Trace} key=${c.id} call=${c} result=${found(c.id)} conversation=${conversation} />`
        : html`<${Call} key=${c.id} call=${c} conversation=${conversation} />`))}
      ${step && step.results.filter((r) => !recalls(r.name)).map((r) => html`<${Result} key=${r.call_id} result=${r} conversation=${conversation} />`)}
      <span class="dots" role="status" aria-label=${t('answering')}><i /><i /><i /></span>
    </div></div>
  </article>`;
}

// Asked is the user's message until it is stored.
export const Asked = ({ parts: ps, id, references }) => html`<article class="msg user asked" aria-label=${t('you')}><div class="gutter" />
  <div class="content"><div class="body"><${Said} parts=${ps} id=${id} fresh=${references} /></div></div></article>`;

// tookOf is how long the model of a turn thought, in words.
export const tookOf = (meta) => (meta && meta.thinking_ms > 0 ? seconds(meta.thinking_ms) : '');
