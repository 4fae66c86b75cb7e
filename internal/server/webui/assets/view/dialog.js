// A dialog over the page: the browser keeps the focus in it and closes it on Esc.
import { html, useLayoutEffect, useRef } from './html.js';

export function Dialog({ cls, label, onClose, children }) {
  const el = useRef(null);
  useLayoutEffect(() => { // at once: whoever types on after Esc must not lose the focus again
    const d = el.current;
    const back = document.activeElement;
    d.showModal();
    return () => { d.close(); if (back && back.focus) back.focus({ preventScroll: true }); };
  }, []);
  const outside = (e) => { if (e.target === el.current) onClose(); };
  return html`<dialog ref=${el} class=${cls} aria-label=${label} onCancel=${(e) => { e.preventDefault(); onClose(); }} onMouseDown=${outside}>
    <div class="sheet">${children}</div></dialog>`;
}
