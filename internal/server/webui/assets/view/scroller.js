// What is read stays in place: at the end the page follows, elsewhere it holds on to the first
// message in view while others are put in above it.
import * as thread from '../state/thread.js';

const NEAR = 800; // pixels from an end at which more is asked for

export const scroller = {
  el: null, stuck: true, held: null,

  // first is the first message in view.
  first() {
    if (!this.el) return null;
    const top = this.el.getBoundingClientRect().top;
    const all = this.el.querySelectorAll('.msg[data-seq]:not(.told)');
    let [from, to] = [0, all.length - 1];
    while (from < to) { // they stand one below the other
      const mid = (from + to) >> 1;
      if (all[mid].getBoundingClientRect().bottom > top) to = mid;
      else from = mid + 1;
    }
    return all[from] || null;
  },

  // hold remembers where the first message in view stands.
  hold() {
    const m = this.first();
    this.held = m ? { seq: m.dataset.seq, top: m.getBoundingClientRect().top } : null;
  },

  // after puts things back where they were: at the end, or where the message that was read first
  // stood. still holds on even at the end: somebody opened or closed something there.
  after(still) {
    if (!this.el) return;
    const held = this.held && document.getElementById('m' + this.held.seq);
    if (this.stuck && !still && !thread.newer.value) this.el.scrollTop = this.el.scrollHeight;
    else if (held) this.el.scrollTop += held.getBoundingClientRect().top - this.held.top;
    this.hold();
  },

  touched: 0, // when something in it was last pressed

  // resized is for what grows by itself: a picture that came, a line that was opened, the window.
  resized() { this.after(performance.now() - this.touched < 400); },

  scrolled() {
    const { el } = this;
    if (!el) return;
    const below = el.scrollHeight - el.scrollTop - el.clientHeight;
    this.stuck = below < 48 && !thread.newer.value;
    this.hold();
    el.parentElement?.classList.toggle('away', below > 240 || thread.newer.value);
    if (el.scrollTop < NEAR) thread.loadOlder();
    if (below < NEAR) thread.loadNewer();
  },
};
thread.eyes.before = () => { if (scroller.el && !scroller.stuck) scroller.hold(); };
thread.eyes.atEnd = () => scroller.stuck;
