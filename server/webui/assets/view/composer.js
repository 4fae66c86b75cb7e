// Where a message is written. Enter sends, Shift+Enter breaks the line; what an input method
// is still composing is left alone.
import { html, useEffect, useLayoutEffect, useRef } from './html.js';
import { Button, icon } from './icons.js';
import { cancelEdit, editing, here, show, starting, submit, text } from '../state/draft.js';
import { narrow } from '../state/panels.js';
import { mayWrite } from '../state/session.js';
import * as turn from '../state/turn.js';
import * as web from '../state/web.js';
import { t } from '../state/words.js';

export function Composer({ sent }) {
  const box = useRef(null);
  const id = here();
  const busy = turn.running.value;

  useEffect(() => {
    show(id);
    if (!narrow() && !document.querySelector('dialog[open]')) box.current.focus({ preventScroll: true });
  }, [id]);

  useLayoutEffect(() => {
    if (!editing.value) return;
    box.current.focus({ preventScroll: true });
    box.current.setSelectionRange(text.value.length, text.value.length);
  }, [editing.value]);

  useLayoutEffect(() => {
    const el = box.current;
    el.style.height = 'auto';
    el.style.height = el.scrollHeight + 'px';
  }, [text.value]);

  const onKeyDown = (e) => {
    if (e.key === 'Escape' && editing.value) cancelEdit();
    if (e.key !== 'Enter' || e.shiftKey || e.isComposing || e.keyCode === 229) return;
    e.preventDefault();
    submit(sent);
  };
  return html`<form class="composer" onSubmit=${(e) => { e.preventDefault(); submit(sent); }}>
    ${editing.value && html`<p class="editing">${t('editing', editing.value.seq)} <button type="button" class="link"
      onClick=${cancelEdit}>${t('cancel')}</button></p>`}
    <div class="box">
      <textarea ref=${box} rows="1" value=${text.value} placeholder=${t(mayWrite.value ? 'placeholder' : 'readOnly')} aria-label=${t('placeholder')} disabled=${!mayWrite.value}
        enterkeyhint="send" onInput=${(e) => { text.value = e.currentTarget.value; }} onKeyDown=${onKeyDown}></textarea>
      ${web.available.value && html`<${Button} name="web" cls="web" label=${web.on.value ? t('webOn') : t('webOff')} pressed=${web.on.value}
        onClick=${() => { web.on.value = !web.on.value; }} />`}
      ${busy
        ? html`<button type="button" class="round stop" aria-label=${t('stop')} title=${t('stop')} onClick=${turn.stop} disabled=${!busy.turn}>${icon('stop')}</button>`
        : html`<button type="submit" class="round" aria-label=${t('send')} title=${t('send')} disabled=${!text.value.trim() || starting.value}>${icon('send')}</button>`}
    </div>
    <p class="hint">${t('sendHint')}</p>
  </form>`;
}
