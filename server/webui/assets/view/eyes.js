// The switch between your eyes and the model's keeps the place: the first message in view stays
// where it is.
import * as keyboard from '../state/keyboard.js';
import { look, sees } from '../state/sees.js';
import * as thread from '../state/thread.js';

let top = 0; // how far below the edge of what scrolls the message was

export const heldTop = () => top;

const scroller = () => document.querySelector('.chat .scroll');

// inView is the first message that is in view, of either view; 0 for none.
function inView() {
  const el = scroller();
  if (!el) return 0;
  const edge = el.getBoundingClientRect().top;
  for (const m of el.querySelectorAll('[data-seq]')) {
    const box = m.getBoundingClientRect();
    if (box.bottom > edge && m.offsetParent !== null && !m.querySelector('[data-seq]')) { top = box.top - edge; return Number(m.dataset.seq); }
  }
  return 0;
}

// settle puts a message of your view back to where it was, once it is drawn.
function settle(seq, tries = 20) {
  const el = scroller();
  const m = el && !el.classList.contains('model') && el.querySelector(`[data-seq="${seq}"]`);
  if (m) el.scrollTop += m.getBoundingClientRect().top - el.getBoundingClientRect().top - top;
  else if (tries > 0) requestAnimationFrame(() => settle(seq, tries - 1));
}

// change looks with other eyes, at the same place.
export function change(whose) {
  const c = thread.conversation.value;
  if (!c || whose === sees.value) return;
  const seq = inView();
  if (whose === 'model') { look('model', { seq }); return; }
  look('you');
  if (!seq) return;
  if (thread.messages.value.some((m) => m.seq === seq)) { requestAnimationFrame(() => settle(seq)); return; }
  thread.open(c.id, seq).then(() => requestAnimationFrame(() => settle(seq)));
}

keyboard.on('switch:model', () => change('model'));
keyboard.on('switch:you', () => change('you'));
keyboard.on('switch', () => change(sees.value === 'you' ? 'model' : 'you'));
