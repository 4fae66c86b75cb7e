// The switch between your eyes and the model's keeps the place: the first message in view stays
// where it is.
import * as keyboard from '../state/keyboard.js';
import { look, sees, turn } from '../state/sees.js';
import * as thread from '../state/thread.js';

let top = 0; // where on the screen the message begins
let left = null; // {seq, top}: where one was before looking at a turn's request

export const heldTop = () => top;

const scroller = () => document.querySelector('.chat .scroll');

// inView is the first message that begins in view, or else one that fills it, in either view; 0
// for none.
function inView() {
  const el = scroller();
  if (!el) return 0;
  const room = el.getBoundingClientRect();
  let filling = null;
  for (const m of el.querySelectorAll('[data-seq]:not(a)')) { // a link in an answer has one too
    const box = m.getBoundingClientRect();
    if (box.bottom <= room.top || box.height === 0 || m.querySelector('[data-seq]:not(a)')) continue;
    if (box.top >= room.bottom) break;
    filling = m;
    if (box.top >= room.top - 1) break;
  }
  if (filling) top = filling.getBoundingClientRect().top;
  return filling ? Number(filling.dataset.seq) : 0;
}

// settle puts a message of your view back to where it was, once it is drawn.
function settle(seq, tries = 20) {
  const el = scroller();
  const m = el && !el.classList.contains('model') && el.querySelector(`[data-seq="${seq}"]:not(a)`);
  if (m) el.scrollTop += m.getBoundingClientRect().top - top;
  if (tries > 0) requestAnimationFrame(() => settle(seq, m ? Math.min(tries - 1, 3) : tries - 1));
}

// change looks with other eyes, at the same place.
export function change(whose) {
  const c = thread.conversation.value;
  if (!c || whose === sees.value) return;
  let seq = inView();
  if (whose === 'model') { left = null; look('model', { seq }); return; }
  if (turn.value && left) ({ seq, top } = left); // the request of a turn has other places
  left = null;
  look('you');
  if (!seq) return;
  if (thread.messages.value.some((m) => m.seq === seq)) { requestAnimationFrame(() => settle(seq)); return; }
  thread.open(c.id, seq).then(() => requestAnimationFrame(() => settle(seq)));
}

// saw looks at what the model was sent for a turn; the way back leads to where one was.
export function saw(of, seq) {
  left = { seq: inView(), top };
  look('model', { turn: of, seq });
}

keyboard.on('switch:model', () => change('model'));
keyboard.on('switch:you', () => change('you'));
keyboard.on('switch', () => change(sees.value === 'you' ? 'model' : 'you'));
