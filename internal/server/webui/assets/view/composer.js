// Where a message is written. Enter sends, Shift+Enter breaks the line, @ offers paths; what an
// input method is still composing is left alone.
import { html, useEffect, useLayoutEffect, useRef, useState } from './html.js';
import { Attached } from './attached.js';
import { Cut, Legend, Next } from './bar.js';
import { Button, icon } from './icons.js';
import { Offline, Picker } from './models.js';
import { Offers, optionId } from './offers.js';
import { Instruct, Instructions, Think, Web } from './switches.js';
import { Trouble, Waiting } from './waiting.js';
import { long } from '../state/attach.js';
import { bar, begin, said } from '../state/bar.js';
import { add, cancelEdit, editing, here, paste, save, sendable, show, starting, submit, text, trouble } from '../state/draft.js';
import { num } from '../state/figures.js';
import * as files from '../state/files.js';
import { fresh } from '../state/fresh.js';
import * as keyboard from '../state/keyboard.js';
import { narrow, width } from '../state/panels.js';
import { sees } from '../state/sees.js';
import { cannot, mayWrite } from '../state/session.js';
import { conversation, opening } from '../state/thread.js';
import * as turn from '../state/turn.js';
import { t } from '../state/words.js';

// Send sends, or while an answer comes lets the message wait for its end; Stop ends the answer.
function Send() {
  const busy = turn.running.value;
  const label = t(busy ? 'composer.queueIt' : 'send');
  return html`<div class="go">${(!busy || sendable()) && html`<button type="submit" class="round" aria-label=${label} title=${label} aria-keyshortcuts="Enter" disabled=${!sendable() || starting.value || (busy && editing.value)}>${icon('send')}</button>`}
    ${busy && html`<button type="button" class="stop" aria-label=${t('stop')} aria-keyshortcuts="Escape" onClick=${turn.stop} disabled=${!busy.turn}>${icon('stop')}<span>${t('composer.stop')}</span> <kbd>Esc</kbd></button>`}</div>`;
}

export function Composer({ sent }) {
  const box = useRef(null);
  const frame = useRef(null);
  const file = useRef(null);
  const caret = useRef(null); // where it goes once the text is drawn
  const [hinted, hint] = useState(false);
  const [instructing, instruct] = useState(false);
  const id = here();
  const list = files.offers.value;
  const model = conversation.value && sees.value === 'model';
  const blank = !conversation.value && !opening.value;
  const open = Boolean(model || (bar.value && bar.value.over));

  useEffect(() => begin(), []);
  useEffect(() => keyboard.on('stop', turn.stop), []);
  useEffect(() => {
    addEventListener('pagehide', save);
    return () => removeEventListener('pagehide', save);
  }, []);

  useEffect(() => {
    if (opening.value) return; // the draft of what was left stands until then
    show(id);
    files.close();
    instruct(id === 'new' && Boolean(fresh.value.instructions));
    if (!narrow() && !document.querySelector('dialog[open]')) box.current.focus({ preventScroll: true });
  }, [id, opening.value]);

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
  }, [text.value, model, width.value]);

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
    if (trouble.value && trouble.value.text) trouble.value = null;
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
    if (e.key === 'Escape' && editing.value) { e.stopPropagation(); cancelEdit(); }
    if (e.key !== 'Enter' || e.shiftKey) return;
    e.preventDefault();
    files.close();
    submit(sent);
  };
  const onKeyUp = (e) => { if (['ArrowLeft', 'ArrowRight', 'Home', 'End'].includes(e.key) && !e.isComposing) look(); };
  const onPaste = (e) => {
    const from = e.clipboardData;
    if (!from) return;
    const words = from.getData('text/plain');
    if (long(words)) paste(words);
    else if (from.files.length && !words) add(from.files);
    else return;
    e.preventDefault();
  };
  const chosen = (e) => {
    const picked = Array.from(e.currentTarget.files);
    e.currentTarget.value = '';
    add(picked);
  };
  const go = () => submit(sent);
  return html`<div class="above">${hinted && !open && html`<div class="floats"><${Legend} cls="float" /></div>`}<${Offers} beside=${frame} take=${take} /></div>
  <div class="dock"><div class=${'composer' + (model ? ' small' : '')}>
    <${Waiting} />
    <form class="desk" ref=${frame} onSubmit=${(e) => { e.preventDefault(); go(); }}>
      <${Cut} /><${Next} open=${open} hint=${hint} />
      ${editing.value && html`<p class="editing">${t('editing', num(editing.value.seq))} <button type="button" class="link"
        onClick=${cancelEdit}>${t('cancel')}</button></p>`}
      ${blank && instructing && html`<${Instructions} />`}
      <${Attached} id=${id} />
      <div class="box">
        <input ref=${file} type="file" multiple hidden onChange=${chosen} aria-label=${t('attach')} />
        <textarea ref=${box} rows="1" value=${text.value} placeholder=${t(cannot.value ? cannot.value : turn.running.value ? 'composer.write' : 'placeholder')} aria-label=${t('placeholder')} disabled=${!mayWrite.value}
          enterkeyhint="send" aria-autocomplete="list" aria-haspopup="listbox" aria-controls=${list ? 'offers' : null} aria-activedescendant=${list ? optionId(list.at) : null}
          onInput=${onInput} onCompositionEnd=${look} onClick=${look} onBlur=${() => files.close()} onPaste=${onPaste} onKeyDown=${onKeyDown} onKeyUp=${onKeyUp}></textarea>
        <div class="tools"><${Button} name="attach" label=${t('attach')} disabled=${!mayWrite.value} onClick=${() => file.current.click()} />
          <${Picker} /><${Think} /><${Web} />${blank && html`<${Instruct} open=${instructing} toggle=${() => instruct(!instructing)} />`}</div>
        ${bar.value && bar.value.draft > 0 && html`<span class="weight">${t('composer.draft', num(bar.value.draft))}</span>`}
        <${Send} />
      </div>
      <${Trouble} retry=${go} />
    </form>
    <${Offline} />
    <p class="unseen" role="status" aria-live="polite">${said.value}</p>
  </div></div>`;
}
