// A title being written: Enter keeps it, Esc and leaving without a change do not.
import { html, useEffect, useRef } from './html.js';
import * as conversations from '../state/conversations.js';
import { conversation, reread } from '../state/thread.js';
import { t } from '../state/words.js';

export function Rename({ of: c, done }) {
  const input = useRef(null);
  const over = useRef(false);
  useEffect(() => { input.current.focus(); input.current.select(); }, []);
  const end = async (keep) => {
    if (over.current) return;
    over.current = true;
    const title = input.current.value.trim();
    if (keep && title && title !== c.title && await conversations.rename(c, title) && conversation.value && conversation.value.id === c.id) reread();
    done();
  };
  return html`<input class="rename" ref=${input} value=${c.title} maxlength="500" aria-label=${t('rename')} onBlur=${() => end(true)}
    onKeyDown=${(e) => {
      e.stopPropagation();
      if (e.isComposing) return;
      if (e.key === 'Enter') end(true);
      if (e.key === 'Escape') end(false);
    }} />`;
}
