// The keys of the conversation: from message to message, to a number, and what can be done from
// the one that they stand at.
import { html, useEffect, useRef } from './html.js';
import { Dialog } from './dialog.js';
import { scroller } from './scroller.js';
import { signal } from '../vendor/signals-core.mjs';
import { switchTo, versions } from '../state/branches.js';
import * as keyboard from '../state/keyboard.js';
import { forget, marks } from '../state/marks.js';
import { pin, pinnable } from '../state/message.js';
import { go } from '../state/place.js';
import { mayWrite } from '../state/session.js';
import * as thread from '../state/thread.js';
import { t } from '../state/words.js';

const asking = signal(false); // for a number to go to

const shown = (el) => [...el.querySelectorAll('.msg[data-seq]:not(.told)')];

// standing is the message that keys act on: the one with the focus, that was pressed or gone to,
// while it is in view; else the first in view.
function standing(el) {
  const focused = document.activeElement && document.activeElement.closest && document.activeElement.closest('.msg[data-seq]');
  if (focused && el.contains(focused)) return focused;
  const box = el.getBoundingClientRect();
  const now = document.getElementById('m' + thread.current.value);
  const at = now && now.getBoundingClientRect();
  return at && at.bottom > box.top && at.top < box.bottom ? now : scroller.first();
}

function step(el, by) {
  const all = shown(el);
  const i = all.indexOf(standing(el));
  const to = all[i + by];
  if (!to) return;
  thread.current.value = Number(to.dataset.seq);
  to.focus({ preventScroll: true });
  const [a, b] = [to.getBoundingClientRect(), el.getBoundingClientRect()];
  if (a.top < b.top + 8 || a.bottom > b.bottom - 8) to.scrollIntoView({ block: by > 0 && a.height < b.height ? 'nearest' : 'start' });
  scroller.scrolled();
}

const messageAt = (el) => { const at = standing(el); return at && thread.messages.value.find((m) => m.seq === Number(at.dataset.seq)); };

function version(el, by) {
  const m = messageAt(el);
  const v = m && mayWrite.value && versions(m);
  const to = v && v.list[v.at + by];
  if (to) switchTo(to);
}

// keys makes them act on what el shows, until the function that it returns is called.
export function keys(el) {
  const offs = [
    keyboard.on('next', () => step(el, 1)), keyboard.on('previous', () => step(el, -1)),
    keyboard.on('pin', () => { const m = messageAt(el); if (m && mayWrite.value && pinnable(m)) pin(m); }),
    keyboard.on('earlier', () => version(el, -1)), keyboard.on('later', () => version(el, 1)),
    keyboard.on('goto', () => { if (thread.conversation.value) asking.value = true; }),
  ];
  const esc = (e) => { // what else Esc is for comes after the marks of a search
    if (e.key !== 'Escape' || e.isComposing || !marks.value || document.querySelector('dialog[open]')) return;
    forget();
    e.stopPropagation();
  };
  addEventListener('keydown', esc, true);
  return () => { for (const off of offs) off(); removeEventListener('keydown', esc, true); };
}

// Goto asks for the number of a message.
export function Goto() {
  const box = useRef(null);
  const open = asking.value;
  useEffect(() => { if (open && box.current) box.current.focus(); }, [open]);
  if (!open || !thread.conversation.value) return null;
  const c = thread.conversation.value;
  const close = () => { asking.value = false; };
  const submit = (e) => {
    e.preventDefault();
    const seq = Math.min(c.messages || Infinity, Math.floor(Number(box.current.value.replace(/[^\d]/g, ''))));
    close();
    if (seq > 0) go(c.id, seq);
  };
  return html`<${Dialog} cls="goto" label=${t('thread.goto')} onClose=${close}><form onSubmit=${submit}>
    <label><span>${t('thread.goto')}</span><span class="number">#<input ref=${box} inputmode="numeric" autocomplete="off" placeholder=${`1–${c.messages}`} /></span></label>
    <button type="submit" class="plain strong">${t('thread.go')}</button></form><//>`;
}
