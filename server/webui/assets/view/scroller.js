// What is read stays in place: at the end the page follows, elsewhere it holds on to the first
// message in view while others are put in above it.
import * as thread from '../state/thread.js';

const NEAR = 800; // pixels from an end at which more is asked for

export const scroller = {
  el: null, stuck: true, anchor: null,

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

  before() {
    this.anchor = null;
    if (!this.el || (this.stuck && !thread.newer.value)) return;
    const m = this.first();
    if (m) this.anchor = { seq: m.dataset.seq, top: m.getBoundingClientRect().top };
  },

  after() {
    if (!this.el) return;
    const held = this.anchor && document.getElementById('m' + this.anchor.seq);
    if (held) this.el.scrollTop += held.getBoundingClientRect().top - this.anchor.top;
    else if (this.stuck) this.el.scrollTop = this.el.scrollHeight;
    this.anchor = null;
  },

  scrolled() {
    const { el } = this;
    if (!el) return;
    const below = el.scrollHeight - el.scrollTop - el.clientHeight;
    this.stuck = below < 48 && !thread.newer.value;
    el.parentElement.classList.toggle('away', below > 240 || thread.newer.value);
    if (el.scrollTop < NEAR) thread.loadOlder();
    if (below < NEAR) thread.loadNewer();
  },
};
thread.eyes.before = () => scroller.before();
thread.eyes.atEnd = () => scroller.stuck;
