// A row of buttons that is one tab stop: arrows move along it.
import { html, useLayoutEffect, useRef } from './html.js';

const stops = (el) => [...el.querySelectorAll('button:not(:disabled), a[href]')];

export function Toolbar({ cls = '', label, children }) {
  const el = useRef(null);
  useLayoutEffect(() => { // whatever it holds by now, one of it can be reached
    const all = [...el.current.querySelectorAll('button, a[href]')];
    const now = all.find((x) => x === document.activeElement) || all.find((x) => x.tabIndex === 0 && !x.disabled) || stops(el.current)[0];
    for (const x of all) x.tabIndex = x === now ? 0 : -1;
  });
  const onKeyDown = (e) => {
    if (e.target.closest('[role="menu"]')) return;
    const all = stops(el.current);
    const i = all.indexOf(document.activeElement);
    const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: all.length - 1 }[e.key];
    if (to === undefined || i < 0) return;
    e.preventDefault();
    const next = all[(to + all.length) % all.length];
    for (const x of all) x.tabIndex = x === next ? 0 : -1;
    next.focus();
  };
  return html`<div ref=${el} class=${cls} role="toolbar" aria-label=${label} onKeyDown=${onKeyDown}>${children}</div>`;
}
