// What can be done from a message: copying it, switching to another version, editing it or asking
// again, pinning it, continuing from it elsewhere, seeing what its model saw.
import { html, useRef, useState } from './html.js';
import { saw } from './eyes.js';
import { Button, icon } from './icons.js';
import { Item, Menu } from './menu.js';
import { useNear } from './near.js';
import { Toolbar } from './toolbar.js';
import { branches, fork, regenerate, switchTo, versions } from '../state/branches.js';
import { edit } from '../state/draft.js';
import { clock, iso, whole } from '../state/figures.js';
import { factsOf, pin, pinnable, pinned, source } from '../state/message.js';
import { say } from '../state/notices.js';
import { href } from '../state/place.js';
import { flip, raw } from '../state/raw.js';
import { mayWrite } from '../state/session.js';
import { t } from '../state/words.js';

async function put(text) {
  try { await navigator.clipboard.writeText(text); return true; } catch { return false; } // the browser forbids it; the text can still be selected
}

// plain is a message as it is shown, without what is beside its words.
function plain(m) {
  const body = document.querySelector(`#m${m.seq} .body`);
  if (m.role === 'user' || !body) return source(m);
  const shown = [...body.children].filter((x) => !x.matches('.line, .trace, .about, .thought, .calls'));
  return shown.map((x) => x.innerText).join('\n\n').trim() || source(m);
}

function Copy({ message: m }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    if (!await put(plain(m))) return;
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  };
  return html`<${Button} name=${done ? 'check' : 'copy'} label=${done ? t('copied') : t('copy')} cls="small" onClick=${copy} />`;
}

const asMarkdown = async (m) => { if (await put(source(m))) say(t('message.copied')); };
const asLink = async (m) => { if (await put(new URL(href(m.conversation_id, m.seq, branches.value.length > 1 ? m.branch : null), location.href).href)) say(t('message.linked')); };

function Versions({ of: v }) {
  return html`<span class="versions">
    <button type="button" aria-label=${t('earlierVersion')} disabled=${v.at < 1 || !mayWrite.value} onClick=${() => switchTo(v.list[v.at - 1])}>‹</button>${v.at + 1}/${v.list.length}<button
      type="button" aria-label=${t('laterVersion')} disabled=${v.at > v.list.length - 2 || !mayWrite.value} onClick=${() => switchTo(v.list[v.at + 1])}>›</button></span>`;
}

function Row({ message: m, began }) {
  const v = versions(m);
  const answer = m.role === 'assistant';
  const mine = mayWrite.value;
  const facts = answer ? factsOf(m, began) : '';
  return html`<${Toolbar} cls="do" label=${t('message.ways', m.seq)}>
      ${v && html`<${Versions} of=${v} />`}
      <${Copy} message=${m} />
      ${mine && !answer && html`<${Button} name="pencil" label=${t('editAsk')} cls="small" onClick=${() => edit(m)} />`}
      ${mine && answer && html`<${Button} name="retry" label=${t('regenerate')} cls="small" onClick=${() => regenerate(m)} />`}
      ${mine && pinnable(m) && html`<${Button} name="pin" label=${pinned(m) ? t('unpin') : t('pin')} pressed=${pinned(m)} cls="small" onClick=${() => pin(m)} />`}
      ${mine && html`<${Button} name="fork" label=${t('forkHere')} cls="small" onClick=${() => fork(m)} />`}
      <${Button} name="code" label=${t(raw(m) ? 'markup.drawn' : 'markup.raw')} pressed=${raw(m)} cls="small" onClick=${() => flip(m)} />
      ${answer && m.turn_id && html`<button type="button" class="ghost small saw" aria-label=${t('message.saw')} title=${t('message.saw')} onClick=${() => saw(m.turn_id, m.seq)}>${icon('eye')}<span>${t('message.saw')}</span></button>`}
      <${Menu} label=${t('message.more')} cls="ghost small" button=${icon('more')}>
        <${Item} name="copy" onClick=${() => asMarkdown(m)}>${t('message.markdown')}<//>
        <${Item} name="export" onClick=${() => asLink(m)}>${t('message.link')}<//>
      <//><//>
    <span class="facts" title=${[whole(m.created_at), facts].filter(Boolean).join(' · ')}>${facts || html`<time datetime=${iso(m.created_at)}>${clock(m.created_at)}</time>`}</span>`;
}

export function Ways({ message: m, began, last }) {
  const el = useRef(null);
  const near = useNear(el, last);
  return html`<div class="ways" ref=${el}>${near && html`<${Row} message=${m} began=${began} />`}</div>`;
}
