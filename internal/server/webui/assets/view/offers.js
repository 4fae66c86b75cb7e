// The paths that an @ being written may name, above the composer.
import { html, useLayoutEffect, useRef } from './html.js';
import { icon } from './icons.js';
import { offers } from '../state/files.js';
import { t } from '../state/words.js';

export const optionId = (i) => `offer${i}`;

// Offers stands as wide as what beside names.
export function Offers({ beside, take }) {
  const list = useRef(null);
  const o = offers.value;
  useLayoutEffect(() => {
    if (!o) return;
    const [box, room] = [beside.current.getBoundingClientRect(), list.current.offsetParent.getBoundingClientRect()];
    list.current.style.left = `${box.left - room.left}px`;
    list.current.style.right = `${room.right - box.right}px`;
    list.current.children[o.at].scrollIntoView({ block: 'nearest' });
  }, [o]);
  if (!o) return null;
  return html`<ul id="offers" class="offers" role="listbox" aria-label=${t('filePaths')} ref=${list} onMouseDown=${(e) => e.preventDefault()}>
    ${o.files.map(({ path }, i) => {
      const cut = path.lastIndexOf('/', path.length - 2) + 1;
      return html`<li key=${path} id=${optionId(i)} role="option" aria-selected=${i === o.at} aria-label=${path} title=${path} onClick=${() => take(i)}>
        ${icon(path.endsWith('/') ? 'folder' : 'page')}<span class="within">${path.slice(0, cut)}</span><span>${path.slice(cut)}</span></li>`;
    })}</ul>`;
}
