// A list that opens from a button: arrows move, Enter takes, Esc closes and the focus goes back.
import { html, useEffect, useLayoutEffect, useRef, useState } from './html.js';
import { icon } from './icons.js';

// place puts the open list beside its button, inside the page.
export function place(list, button) {
  const [at, room] = [button.getBoundingClientRect(), list.getBoundingClientRect()];
  const below = innerHeight - at.bottom;
  const up = room.height + 8 > below && at.top > below;
  list.style.top = `${Math.max(8, up ? at.top - room.height - 6 : Math.min(at.bottom + 6, innerHeight - room.height - 8))}px`;
  list.style.left = `${Math.max(8, Math.min(at.left, innerWidth - room.width - 8))}px`;
}

// Item is one line of a menu; checked makes it one of several to choose from.
export const Item = ({ name, cls = '', checked, onClick, disabled, children }) => html`<button type="button" class=${cls} tabindex="-1" disabled=${disabled}
  role=${checked === undefined ? 'menuitem' : 'menuitemradio'} aria-checked=${checked} onClick=${onClick}>${name && icon(name)}${children}</button>`;

// entries are the items of an open list that can be chosen; some are shown on a phone only.
const entries = (list) => [...list.querySelectorAll('[role^="menuitem"]:not(:disabled)')].filter((el) => el.checkVisibility());

// Menu is the button and its list. label is read aloud; children are Items, or a function that
// makes them from close.
export function Menu({ label, cls = 'ghost', button, children, onOpen, ...rest }) {
  const [open, setOpen] = useState(false);
  const at = useRef(null);
  const list = useRef(null);
  const close = () => { setOpen(false); at.current.focus({ preventScroll: true }); };
  useLayoutEffect(() => {
    if (!open) return undefined;
    const el = list.current;
    el.showPopover();
    place(el, at.current);
    const items = entries(el);
    const first = items.find((x) => x.getAttribute('aria-checked') === 'true') || items[0];
    if (first) first.focus();
    return undefined;
  }, [open]);
  useEffect(() => {
    if (!open) return undefined;
    const away = (e) => { if (!list.current.contains(e.target) && !at.current.contains(e.target)) setOpen(false); };
    const gone = () => setOpen(false);
    addEventListener('pointerdown', away, true);
    addEventListener('resize', gone);
    return () => { removeEventListener('pointerdown', away, true); removeEventListener('resize', gone); };
  }, [open]);
  const onKeyDown = (e) => {
    const items = entries(list.current);
    const i = items.indexOf(document.activeElement);
    const to = { ArrowDown: i + 1, ArrowUp: i < 0 ? items.length - 1 : i - 1, Home: 0, End: items.length - 1 }[e.key];
    if (e.key === 'Escape') { e.preventDefault(); e.stopPropagation(); close(); return; }
    if (e.key === 'Tab') { setOpen(false); return; }
    if (to === undefined || !items.length) return;
    e.preventDefault();
    items[(to + items.length) % items.length].focus();
  };
  const taken = (e) => { if (e.target.closest('[role^="menuitem"]')) close(); };
  return html`<button ref=${at} type="button" class=${cls} aria-haspopup="menu" aria-expanded=${open} aria-label=${label} title=${label} ...${rest}
      onClick=${() => { if (!open && onOpen) onOpen(); setOpen(!open); }}>${button}</button>
    ${open && html`<div ref=${list} class="menu" role="menu" popover="manual" aria-label=${label} onKeyDown=${onKeyDown} onClick=${taken}>
      ${typeof children === 'function' ? children(close) : children}</div>`}`;
}
