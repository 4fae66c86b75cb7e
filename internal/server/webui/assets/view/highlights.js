// What the last search looked for stays marked in the messages that it found, until Esc. The
// browser draws the marks over the text: nothing is put into it.
import { marks } from '../state/marks.js';
import { spans } from '../state/trace.js';
import { conversation } from '../state/thread.js';

const NAME = 'found';
const can = () => typeof Highlight === 'function' && CSS.highlights;
let asked = 0;

function ranges(el, words) {
  const out = [];
  const walk = document.createTreeWalker(el, NodeFilter.SHOW_TEXT);
  for (let n = walk.nextNode(); n; n = walk.nextNode()) {
    for (const [from, to] of spans(n.data, words)) {
      const r = new Range();
      r.setStart(n, from);
      r.setEnd(n, to);
      out.push(r);
    }
  }
  return out;
}

function draw(el) {
  const m = marks.value;
  if (!m || !conversation.value || m.conversation !== conversation.value.id) { CSS.highlights.delete(NAME); return; }
  const words = m.words.map((w) => w.toLowerCase()).filter(Boolean);
  const found = (m.seqs || []).map((seq) => el.querySelector(`#m${Number(seq)} .body`)).filter(Boolean);
  CSS.highlights.set(NAME, new Highlight(...found.flatMap((x) => ranges(x, words))));
}

// remark draws the marks again, once for all that changed in a frame.
export function remark(el) {
  if (!can() || asked || (!marks.value && !CSS.highlights.has(NAME))) return;
  asked = requestAnimationFrame(() => { asked = 0; draw(el); });
}
