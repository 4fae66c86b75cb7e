// Where a message is written. Enter sends, Shift+Enter breaks the line; what an input method
// is still composing is left alone.
import { html, signal, useEffect, useLayoutEffect, useRef } from './html.js';
import { convo, post } from './api.js';
import { back, editing } from './branches.js';
import { icon } from './icons.js';
import { settle } from './place.js';
import * as thread from './thread.js';
import * as turn from './turn.js';
import { attempt, hush, narrow } from './ui.js';
import { t } from './words.js';

const drafts = new Map(); // what was begun in each conversation
const text = signal('');
const starting = signal(false);
let shown = null;

const here = () => (thread.conversation.value ? thread.conversation.value.id : 'new');

async function submit(sent) {
  const message = text.value;
  if (!message.trim() || turn.running.value || starting.value || thread.opening.value) return;
  starting.value = true;
  hush();
  let c = thread.conversation.value;
  try {
    if (!c) {
      c = await attempt(() => post('/api/conversations'));
      if (!c) return;
      thread.adopt(c);
      shown = c.id;
      settle(c.id);
    } else if (editing.value) {
      const edited = editing.value;
      editing.value = null;
      if (!(await back(edited))) return;
    } else if (thread.newer.value) await thread.toEnd();
  } finally {
    starting.value = false;
  }
  text.value = '';
  drafts.delete(c.id);
  sent();
  const taken = await turn.ask(c.id, message);
  if (taken || here() !== c.id) return;
  if (!text.value) text.value = message; // nothing was stored: it is still the writer's
  turn.join(c.id);
}

export function Composer({ sent }) {
  const box = useRef(null);
  const id = here();
  const busy = turn.running.value;

  useEffect(() => {
    if (shown !== null && shown !== id) {
      if (text.value) drafts.set(shown, text.value);
      else drafts.delete(shown);
      text.value = drafts.get(id) || '';
    }
    shown = id;
    editing.value = null;
    if (!narrow() && !document.querySelector('dialog[open]')) box.current.focus({ preventScroll: true });
  }, [id]);

  useEffect(() => {
    const m = editing.value;
    if (!m) return;
    text.value = m.parts.filter((p) => p.type === 'text').map((p) => p.text).join('\n');
    box.current.focus({ preventScroll: true });
  }, [editing.value]);

  useLayoutEffect(() => {
    const el = box.current;
    el.style.height = 'auto';
    el.style.height = el.scrollHeight + 'px';
  }, [text.value]);

  const onKeyDown = (e) => {
    if (e.key === 'Escape' && editing.value) { editing.value = null; text.value = ''; }
    if (e.key !== 'Enter' || e.shiftKey || e.isComposing || e.keyCode === 229) return;
    e.preventDefault();
    submit(sent);
  };
  return html`<form class="composer" onSubmit=${(e) => { e.preventDefault(); submit(sent); }}>
    ${editing.value && html`<p class="editing">${t('editing', editing.value.seq)} <button type="button" class="link"
      onClick=${() => { editing.value = null; text.value = ''; }}>${t('cancel')}</button></p>`}
    <div class="box">
      <textarea ref=${box} rows="1" value=${text.value} placeholder=${t('placeholder')} aria-label=${t('placeholder')}
        enterkeyhint="send" onInput=${(e) => { text.value = e.currentTarget.value; }} onKeyDown=${onKeyDown}></textarea>
      ${busy
        ? html`<button type="button" class="round stop" aria-label=${t('stop')} title=${t('stop')} onClick=${turn.stop} disabled=${!busy.turn}>${icon('stop')}</button>`
        : html`<button type="submit" class="round" aria-label=${t('send')} title=${t('send')} disabled=${!text.value.trim() || starting.value}>${icon('send')}</button>`}
    </div>
    <p class="hint">${t('sendHint')}</p>
  </form>`;
}
