// What is only made for messages that somebody rests at: while a long log rushes by, nothing of
// it is made.
import { useEffect, useState } from './html.js';

const REST = 120; // ms in view

const waiting = new Map(); // by element, what to call and since when it is in view
let timer = 0;

function ripe() {
  timer = 0;
  for (const [el, w] of waiting) if (w.seen) { waiting.delete(el); watch.unobserve(el); w.call(); }
}

const watch = new IntersectionObserver((all) => {
  for (const { target, isIntersecting } of all) if (waiting.has(target)) waiting.get(target).seen = isIntersecting;
  clearTimeout(timer);
  timer = setTimeout(ripe, REST);
}, { rootMargin: '100px' });

// useNear turns true once the element of ref has been in view for a moment.
export function useNear(ref, first) {
  const [near, setNear] = useState(first);
  useEffect(() => {
    const el = ref.current;
    if (near || !el) return undefined;
    waiting.set(el, { seen: false, call: () => setNear(true) });
    watch.observe(el);
    return () => { waiting.delete(el); watch.unobserve(el); };
  }, [near]);
  return near;
}
