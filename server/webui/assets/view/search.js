// Search: messages by words across everything or here, or lines of this conversation by a
// regular expression. Arrows choose, Enter goes there.
import { html, useEffect, useLayoutEffect, useRef, useState } from './html.js';
import { Dialog } from './dialog.js';
import { Button, icon } from './icons.js';
import { Marked } from './text.js';
import { clock, iso, num, whole } from '../state/figures.js';
import { roleName } from '../state/message.js';
import { searchOpen } from '../state/panels.js';
import { choose, close, find, last, near } from '../state/search.js';
import { conversation } from '../state/thread.js';
import { lang, t } from '../state/words.js';

function Hit({ row }) {
  const { h } = row;
  const before = near(h.before && h.before.slice(-1));
  const after = near(h.after);
  return html`<span class="where"><b>${row.title}</b><span>#${num(h.seq)} · ${roleName(h.role)}</span>
      ${h.ref && html`<em>${t('isCompacted')}</em>`}${!h.on_path && html`<em>${t('otherBranch')}</em>`}
      <time datetime=${iso(h.created_at)} title=${whole(h.created_at)}>${clock(h.created_at)}</time></span>
    ${before && html`<span class="near">${before}</span>`}
    <span class="snippet"><${Marked} text=${h.snippet} spans=${h.spans} /></span>
    ${after && html`<span class="near">${after}</span>`}`;
}

const Line = ({ row: { m } }) => html`<span class="where"><b>${m.seq ? `#${num(m.seq)}` : m.ref}</b><span>${t('line', m.line)}</span>${m.ref && html`<em>${t('isCompacted')}</em>`}</span>
  <code class="snippet">${m.content.slice(0, 400)}</code>`;

export function Search() {
  return searchOpen.value ? html`<${Open} />` : null;
}

function Open() {
  const c = conversation.value;
  const id = c && c.id;
  const [text, setText] = useState(last.text);
  const [mode, setMode] = useState(c ? last.mode : 'everywhere');
  const [match, setMatch] = useState(last.match);
  const [found, setFound] = useState(null);
  const [fault, setFault] = useState('');
  const [at, setAt] = useState(0);
  const rows = useRef(null);
  const input = useRef(null);
  Object.assign(last, { text, mode, match });

  useEffect(() => { input.current.focus(); input.current.select(); }, [mode]);
  useEffect(() => {
    if (!text.trim()) { setFound(null); setFault(''); return undefined; }
    const stop = new AbortController();
    const later = setTimeout(async () => {
      try {
        const out = await find({ mode, text, match }, id, stop.signal);
        if (!stop.signal.aborted) { setFound(out); setFault(''); setAt(0); }
      } catch (err) {
        if (err.name !== 'AbortError') { setFound(null); setFault(err instanceof TypeError ? t('offlineNet') : err.message); }
      }
    }, 160);
    return () => { clearTimeout(later); stop.abort(); };
  }, [text, mode, match, id, lang.value]);

  useLayoutEffect(() => {
    const li = rows.current && rows.current.children[at];
    if (li) li.scrollIntoView({ block: 'nearest' });
  }, [at]);

  const list = found ? found.rows : [];
  const onKeyDown = (e) => {
    if (e.isComposing) return;
    if (e.key === 'ArrowDown' || e.key === 'ArrowUp') {
      e.preventDefault();
      if (list.length) setAt((at + (e.key === 'ArrowDown' ? 1 : list.length - 1)) % list.length);
    } else if (e.key === 'Enter' && list[at]) { e.preventDefault(); choose(list[at], id); }
  };
  const tab = (name, label, off) => html`<button type="button" role="radio" aria-checked=${mode === name} disabled=${off} onClick=${() => { setFound(null); setMode(name); }}>${label}</button>`;
  return html`<${Dialog} cls="search" label=${t('search')} onClose=${close}>
    <label class="ask">${icon('search')}<input ref=${input} type="text" value=${text} autocomplete="off" spellcheck=${false} class=${mode === 'lines' ? 'mono' : ''}
      placeholder=${mode === 'lines' ? t('grepPlaceholder') : t('searchPlaceholder')} aria-label=${t('search')} role="combobox" aria-expanded=${list.length > 0} aria-controls="found"
      aria-activedescendant=${list.length ? 'found' + at : null} onInput=${(e) => setText(e.currentTarget.value)} onKeyDown=${onKeyDown} />
      <${Button} name="close" label=${t('closeEsc')} onClick=${close} /></label>
    <div class="modes"><span role="radiogroup" aria-label=${t('search')}>${tab('everywhere', t('everywhere'))}${tab('here', t('here'), !c)}${tab('lines', t('lines'), !c)}</span>
      ${mode === 'lines' && html`<label><input type="checkbox" checked=${match} onChange=${(e) => setMatch(e.currentTarget.checked)} /> ${t('caseSensitive')}</label>`}</div>
    ${fault && html`<p class="fault" role="alert">${fault}</p>`}
    ${list.length > 0 && html`<ul id="found" role="listbox" ref=${rows}>${list.map((row, i) => html`<li key=${i} id=${'found' + i} role="option" aria-selected=${i === at}
      onMouseMove=${() => i !== at && setAt(i)} onClick=${() => choose(row, id)}>${row.kind === 'hit' ? html`<${Hit} row=${row} />` : html`<${Line} row=${row} />`}</li>`)}</ul>`}
    ${!fault && html`<p class="note" role="status">${found ? (list.length ? found.note : t('noHits')) : mode === 'lines' ? t('grepIdle') : t('searchIdle')}</p>`}
  <//>`;
}
