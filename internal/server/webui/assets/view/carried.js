// What is kept word for word, by kind: each sentence with the message that says it, a button to drop it, and a
// box to tick a to-do off. What is selected in a message can be kept too.
import { html, useEffect, useState } from './html.js';
import { Button } from './icons.js';
import * as carried from '../state/carried.js';
import { num } from '../state/figures.js';
import { covers, panel } from '../state/panels.js';
import { href } from '../state/place.js';
import { mayWrite } from '../state/session.js';
import { t } from '../state/words.js';

// chosen is what is selected within one message, as {seq, text}, or null.
function chosen() {
  const s = document.getSelection();
  const text = s && !s.isCollapsed ? s.toString().trim() : '';
  const within = (n) => n && (n.nodeType === 1 ? n : n.parentElement).closest('article[data-seq]');
  const from = text && within(s.anchorNode);
  return from && from === within(s.focusNode) ? { seq: Number(from.dataset.seq), text } : null;
}

// keep keeps it, and what is kept is selected no longer.
async function keep(id, { seq, text }) {
  if (await carried.keep(id, seq, text)) document.getSelection().removeAllRanges();
}

// Keep keeps what is selected; without a selection it says how.
function Keep({ id }) {
  const [what, setWhat] = useState(null);
  useEffect(() => {
    const look = () => setWhat(chosen());
    look();
    document.addEventListener('selectionchange', look);
    return () => document.removeEventListener('selectionchange', look);
  }, []);
  if (!what) return html`<p class="none">${t('carried.how')}</p>`;
  return html`<div class="acts"><button type="button" class="plain" onMouseDown=${(e) => e.preventDefault()}
    onClick=${() => keep(id, what)}>${t('carried.keep', num(what.seq))}</button></div>`;
}

// uncover puts the panel away where it would hide the message that a link leads to.
const uncover = () => { if (covers()) panel.value = null; };

function Line({ entry: k }) {
  return html`<li>
    ${k.kind === 'todo' && html`<input type="checkbox" aria-label=${t('carried.tick', k.text)} title=${t('carried.done')} checked=${false} disabled=${!mayWrite.value} onChange=${(e) => { e.target.checked = false; carried.tick(k); }} />`}
    <p>${k.text} <a href=${href(k.conversation_id, k.seq)} onClick=${uncover}>#${num(k.seq)}</a></p>
    ${mayWrite.value && html`<${Button} name="close" cls="small" label=${t('carried.drop', k.text)} onClick=${() => carried.drop(k)} />`}</li>`;
}

export function Carried({ id }) {
  const all = carried.entries.value;
  return html`<div class="carried">
    ${all.length === 0 && html`<p class="none">${t('carried.none')}</p>`}
    ${carried.kinds.filter((kind) => all.some((k) => k.kind === kind)).map((kind) => html`<section key=${kind}><h3>${t('carried.' + kind)}</h3>
      <ul>${all.filter((k) => k.kind === kind).map((k) => html`<${Line} key=${k.id} entry=${k} />`)}</ul></section>`)}
    ${mayWrite.value && html`<${Keep} id=${id} />`}</div>`;
}
