// Where a message is written. Enter sends, Shift+Enter breaks the line, @ offers paths; what an
// input method is still composing is left alone.
import { html, useEffect, useLayoutEffect, useRef } from './html.js';
import { Attached } from './attached.js';
import { Button, icon } from './icons.js';
import { Offers, optionId } from './offers.js';
import { add, cancelEdit, editing, here, sendable, show, starting, submit, text } from '../state/draft.js';
import * as files from '../state/files.js';
import { narrow } from '../state/panels.js';
import { mayWrite } from '../state/session.js';
import * as turn from '../state/turn.js';
import * as web from '../state/web.js';
import { t } from '../state/words.js';

export function Composer({ sent }) {
  const box = useRef(null);
  const frame = useRef(null);
  const file = useRef(null);
  const caret = useRef(null); // where it goes once the text is drawn
  const id = here();
  const busy = turn.running.value;
  const list = files.offers.value;

  useEffect(() => {
    show(id);
    files.close();
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
    if (caret.current === null) return;
    el.setSelectionRange(caret.current, caret.current);
    caret.current = null;
  }, [text.value]);

  const look = () => files.look(box.current.value, box.current.selectionStart);
  const take = (i) => {
    const to = files.take(text.value, i);
    caret.current = to.at;
    text.value = to.text;
    box.current.focus({ preventScroll: true });
    files.look(to.text, to.at);
  };
  const onInput = (e) => {
    text.value = e.currentTarget.value;
    if (e.isComposing) files.close();
    else look();
  };
  const leave = () => {
    const el = box.current;
    const at = files.leave(el.value, el.selectionStart);
    el.setSelectionRange(at, at);
    files.close(true);
  };
  const listKeys = { ArrowDown: () => files.move(1), ArrowUp: () => files.move(-1), Tab: () => take(), Enter: () => take(), Escape: leave };
  const onKeyDown = (e) => {
    if (e.isComposing || e.keyCode === 229) return;
    if (list && Object.hasOwn(listKeys, e.key) && !e.shiftKey && !e.ctrlKey && !e.metaKey && !e.altKey) {
      e.preventDefault();
      e.stopPropagation();
      listKeys[e.key]();
      return;
    }
    if (e.key === 'Escape' && editing.value) cancelEdit();
    if (e.key !== 'Enter' || e.shiftKey) return;
    e.preventDefault();
    files.close();
    submit(sent);
  };
  const onKeyUp = (e) => { if (['ArrowLeft', 'ArrowRight', 'Home', 'End'].includes(e.key) && !e.isComposing) look(); };
  const onPaste = (e) => {
    const from = e.clipboardData;
    if (!from || !from.files.length || from.types.includes('text/plain')) return;
    e.preventDefault();
    add(from.files);
  };
  const chosen = (e) => {
    const picked = Array.from(e.currentTarget.files);
    e.currentTarget.value = '';
    add(picked);
  };
  return html`<div class="above"><${Offers} beside=${frame} take=${take} /></div><div class="dock"><form class="composer" onSubmit=${(e) => { e.preventDefault(); submit(sent); }}>
    ${editing.value && html`<p class="editing">${t('editing', editing.value.seq)} <button type="button" class="link"
      onClick=${cancelEdit}>${t('cancel')}</button></p>`}
    <${Attached} id=${id} />
    <div class="box" ref=${frame}>
      <input ref=${file} type="file" multiple hidden onChange=${chosen} aria-label=${t('attach')} />
      <${Button} name="attach" label=${t('attach')} disabled=${!mayWrite.value} onClick=${() => file.current.click()} />
      <textarea ref=${box} rows="1" value=${text.value} placeholder=${t(mayWrite.value ? 'placeholder' : 'readOnly')} aria-label=${t('placeholder')} disabled=${!mayWrite.value}
        enterkeyhint="send" aria-autocomplete="list" aria-haspopup="listbox" aria-controls=${list ? 'offers' : null} aria-activedescendant=${list ? optionId(list.at) : null}
        onInput=${onInput} onCompositionEnd=${look} onClick=${look} onBlur=${() => files.close()} onPaste=${onPaste} onKeyDown=${onKeyDown} onKeyUp=${onKeyUp}></textarea>
      ${web.available.value && html`<${Button} name="web" cls="web" label=${web.on.value ? t('webOn') : t('webOff')} pressed=${web.on.value}
        onClick=${() => { web.on.value = !web.on.value; }} />`}
      ${busy
        ? html`<button type="button" class="round stop" aria-label=${t('stop')} title=${t('stop')} onClick=${turn.stop} disabled=${!busy.turn}>${icon('stop')}</button>`
        : html`<button type="submit" class="round" aria-label=${t('send')} title=${t('send')} disabled=${!sendable() || starting.value}>${icon('send')}</button>`}
    </div>
    <p class="hint">${t('sendHint')}</p>
  </form></div>`;
}
