// The shape of the whole log beside its scroll: lengths, what is compacted, pins, hits of a
// search, and a box for what is in view. A click or a drag goes there; so do the arrow keys.
import { html, useEffect, useLayoutEffect, useRef } from './html.js';
import { manifest } from '../state/context.js';
import { monthOf, num } from '../state/figures.js';
import { lit } from '../state/lit.js';
import { marks } from '../state/marks.js';
import { cards, dates, lines, load, scale, seen, shape, tall } from '../state/minimap.js';
import { narrow } from '../state/panels.js';
import { go } from '../state/place.js';
import { theme } from '../state/theme.js';
import { conversation, head as newest } from '../state/thread.js';
import { lang, t } from '../state/words.js';

const PAD = 20; // above and below the strokes

// look finds the first and the last message in view: the messages stand in order, so that a
// few of them need to be measured.
function look() {
  const box = document.querySelector('main .scroll');
  if (!box) return;
  const all = box.querySelectorAll('[data-seq]:not(a)');
  if (!all.length) return;
  const { top, bottom } = box.getBoundingClientRect();
  const first = (past) => { // the first element for which past holds, or how many there are
    let [lo, hi] = [0, all.length];
    while (lo < hi) { const mid = (lo + hi) >> 1; if (past(all[mid].getBoundingClientRect())) hi = mid; else lo = mid + 1; }
    return lo;
  };
  const from = Number(all[Math.min(all.length - 1, first((r) => r.bottom > top))].dataset.seq);
  const to = Number(all[Math.max(0, first((r) => r.top >= bottom) - 1)].dataset.seq);
  const was = seen.value;
  if (from && (!was || was.from !== from || was.to !== to)) seen.value = { from, to: Math.max(from, to) };
}

function draw(el) {
  const s = shape.value;
  const { width, height } = el.getBoundingClientRect();
  const ratio = devicePixelRatio || 1;
  el.width = Math.round(width * ratio);
  el.height = Math.round(height * ratio);
  const to = el.getContext('2d');
  to.scale(ratio, ratio);
  if (!s || !s.bins.length) return;
  const colour = (name) => { // a token that differs by theme is known only as the colour of something
    el.style.color = `var(--m-${name})`;
    return getComputedStyle(el).color;
  };
  const wide = width > 40;
  const [left, right] = wide ? [44, width - 12] : [2, width - 2];
  const room = tall(s.head_seq, height - 2 * PAD);
  const at = scale(s.head_seq, room);
  const inside = (seq) => cards.value.some((c) => seq >= c.first_seq && seq <= c.last_seq);
  for (const c of cards.value) {
    to.fillStyle = colour('compacted-soft');
    for (const [a, b] of c.leaves) to.fillRect(left - 2, PAD + at.y(a), right - left + 4, Math.max(1, at.y(b + 1) - at.y(a) - 1));
    if (!c.rolled_up || !wide) continue;
    to.strokeStyle = colour('compacted');
    to.lineWidth = 1.5;
    to.beginPath();
    to.moveTo(left - 2, PAD + at.y(c.first_seq) + 1);
    to.lineTo(left - 6, PAD + at.y(c.first_seq) + 1);
    to.lineTo(left - 6, PAD + at.y(c.last_seq + 1) - 1);
    to.lineTo(left - 2, PAD + at.y(c.last_seq + 1) - 1);
    to.stroke();
  }
  for (const l of lines(s, room)) {
    to.fillStyle = colour(inside(l.last) ? 'compacted' : 'live');
    to.fillRect(left, PAD + l.y, (right - left) * l.long, Math.max(1, Math.min(2, (l.to - l.y) * 0.6)));
  }
  const next = manifest.value && manifest.value.compacts;
  if (next && wide) {
    to.setLineDash([3, 2]);
    to.strokeStyle = colour('compacted');
    to.strokeRect(left - 3, PAD + at.y(next.first_seq), right - left + 6, Math.max(3, at.y(next.last_seq + 1) - at.y(next.first_seq)));
    to.setLineDash([]);
  }
  const c = conversation.value;
  to.fillStyle = colour('pin');
  for (const seq of (c && c.pinned_seqs) || []) { to.beginPath(); to.arc(wide ? width - 5 : width - 3, PAD + at.y(seq), 2.5, 0, 7); to.fill(); }
  const found = marks.value && c && marks.value.conversation === c.id ? marks.value.seqs : [];
  to.fillStyle = colour('hit');
  for (const seq of lit.value ? [...found, lit.value] : found) to.fillRect(left - 2, PAD + at.y(seq) - 1, right - left + 4, 3);
  const v = seen.value;
  if (!v || (v.from <= 1 && v.to >= s.head_seq)) return; // all of it is in view
  to.strokeStyle = colour('box');
  to.fillStyle = colour('veil');
  to.lineWidth = 2;
  const [a, b] = [PAD + at.y(v.from) - 2, Math.max(14, at.y(v.to + 1) - at.y(v.from) + 4)];
  const y = Math.min(a, PAD + room - b + 3);
  to.beginPath();
  to.roundRect(wide ? left - 5 : 1, y, wide ? right - left + 10 : width - 2, b, 4);
  to.fill();
  to.stroke();
}

// roomOf is how much of the map's height its messages take.
const roomOf = (el) => tall(shape.value ? shape.value.head_seq : 0, el.clientHeight - 2 * PAD);

export function Minimap() {
  const el = useRef(null);
  const c = conversation.value;
  const s = shape.value;
  const room = useRef(0);
  const head = s ? s.head_seq : 0;

  // What makes the map another one: more messages, another branch, another compaction.
  const said = newest.value; // grows with each message, also in a conversation that was begun on this page
  const folded = manifest.value ? manifest.value.excluded.length : 0;
  useEffect(() => {
    const later = setTimeout(() => load(c.id), shape.value && shape.value.head_seq ? 400 : 0);
    return () => clearTimeout(later);
  }, [c.id, c.branch, c.messages, said, folded]);
  useEffect(() => () => load(null), [c.id]);

  useEffect(() => {
    let waits = 0;
    const soon = () => { waits ||= requestAnimationFrame(() => { waits = 0; look(); }); };
    document.addEventListener('scroll', soon, true);
    const grown = new MutationObserver(soon);
    grown.observe(document.getElementById('main'), { childList: true, subtree: true });
    soon();
    return () => { cancelAnimationFrame(waits); document.removeEventListener('scroll', soon, true); grown.disconnect(); };
  }, []);

  useLayoutEffect(() => {
    const again = () => { room.current = roomOf(el.current); draw(el.current); };
    const watch = new ResizeObserver(again);
    watch.observe(el.current);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', again);
    return () => { watch.disconnect(); dark.removeEventListener('change', again); };
  }, []);
  const drawn = [s, cards.value, seen.value, lit.value, marks.value, theme.value, manifest.value, c.pinned_seqs];
  useEffect(() => {
    const soon = requestAnimationFrame(() => { if (el.current) { room.current = roomOf(el.current); draw(el.current); } });
    return () => cancelAnimationFrame(soon);
  }, drawn);

  const to = (e) => {
    const y = e.clientY - el.current.getBoundingClientRect().top - PAD;
    const seq = scale(head, room.current).seq(y);
    if (head && (!seen.value || seq < seen.value.from || seq > seen.value.to)) go(c.id, seq);
  };
  const down = (e) => { if (e.button) return; e.currentTarget.setPointerCapture(e.pointerId); to(e); };
  const drag = (e) => { if (e.buttons & 1) to(e); };
  const onKeyDown = (e) => {
    const v = seen.value || { from: head, to: head };
    const step = Math.max(1, Math.round(head / 20));
    const seq = { ArrowUp: v.from - 10, ArrowDown: v.to + 10, PageUp: v.from - step, PageDown: v.to + step, Home: 1, End: head }[e.key];
    if (seq === undefined) return;
    e.preventDefault();
    go(c.id, Math.min(head, Math.max(1, seq)));
  };
  const v = seen.value;
  const labels = s && !narrow() ? dates(s, Math.max(0, room.current)) : [];
  return html`<div class="minimap" role="scrollbar" aria-orientation="vertical" tabindex="0" aria-label=${t('minimap.label')} aria-controls="main" aria-valuemin="1"
    aria-valuemax=${head} aria-valuenow=${v ? v.from : head} aria-valuetext=${v ? t('minimap.at', num(v.from), num(v.to), num(head)) : null} title=${t('minimap.label')}
    data-lang=${lang.value} onPointerDown=${down} onPointerMove=${drag} onKeyDown=${onKeyDown}>
    <canvas ref=${el} />${labels.map((d) => html`<time key=${d.at} style=${{ top: `${PAD + d.y - 8}px` }}>${monthOf(d.at, d.long)}</time>`)}</div>`;
}
