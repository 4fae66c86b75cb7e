// Search: messages by words across everything or here, or lines of this conversation by a
// regular expression. Arrows choose, Enter goes there.
import { html, useEffect, useLayoutEffect, useRef, useState } from './html.js';
import { convo, get, query } from './api.js';
import { titleFor } from './conversations.js';
import { Dialog } from './dialog.js';
import { Button, icon } from './icons.js';
import { go } from './place.js';
import { marked } from './text.js';
import { conversation } from './thread.js';
import { covers, reading, searchOpen, toggleMap } from './ui.js';
import { clock, iso, lang, num, t, whole } from './words.js';

const close = () => { searchOpen.value = false; };
const remembered = { text: '', mode: 'everywhere', match: false };

async function ask(mode, text, match, id, signal) {
  if (mode === 'lines') {
    const g = await get(convo(id, '/grep') + query({ pattern: text, max_results: 50, case_sensitive: match }), signal);
    return { rows: g.matches.map((m) => ({ kind: 'line', m })), note: t('matches', g.matches.length, g.total, g.partial) };
  }
  const s = await get('/api/search' + query({ q: text, conversation: mode === 'here' ? id : null, limit: 20, around: 1 }), signal);
  const titles = await Promise.all(s.hits.map((h) => titleFor(h.conversation_id)));
  return { rows: s.hits.map((h, i) => ({ kind: 'hit', h, title: titles[i] })), note: t('hits', s.hits.length, s.truncated) };
}

function choose(row, id) {
  close();
  if (covers()) toggleMap(false);
  if (row.kind === 'line') {
    if (row.m.seq) go(id, row.m.seq);
    else reading.value = { conversation: id, ref: row.m.ref, title: '', line: row.m.line };
  } else if (row.h.on_path) go(row.h.conversation_id, row.h.seq);
  else reading.value = { title: `${row.title} · #${row.h.seq}`, text: row.h.content };
}

const role = (r) => (r === 'user' ? t('you') : t(r));
const near = (ms) => (ms && ms.length ? ms[0].parts.filter((p) => p.type === 'text').map((p) => p.text).join(' ').slice(0, 200) : '');

function Hit({ row }) {
  const { h } = row;
  const before = near(h.before && h.before.slice(-1));
  const after = near(h.after);
  return html`<span class="where"><b>${row.title}</b><span>#${num(h.seq)} · ${role(h.role)}</span>
      ${h.ref && html`<em>${t('isFolded')}</em>`}${!h.on_path && html`<em>${t('otherBranch')}</em>`}
      <time datetime=${iso(h.created_at)} title=${whole(h.created_at)}>${clock(h.created_at)}</time></span>
    ${before && html`<span class="near">${before}</span>`}
    <span class="snippet">${marked(h.snippet, h.spans)}</span>
    ${after && html`<span class="near">${after}</span>`}`;
}

const Line = ({ row: { m } }) => html`<span class="where"><b>${m.seq ? `#${num(m.seq)}` : m.ref}</b><span>${t('line', m.line)}</span>${m.ref && html`<em>${t('isFolded')}</em>`}</span>
  <code class="snippet">${m.content.slice(0, 400)}</code>`;

export function Search() {
  return searchOpen.value ? html`<${Open} />` : null;
}

function Open() {
  const c = conversation.value;
  const id = c && c.id;
  const [text, setText] = useState(remembered.text);
  const [mode, setMode] = useState(c ? remembered.mode : 'everywhere');
  const [match, setMatch] = useState(remembered.match);
  const [found, setFound] = useState(null);
  const [fault, setFault] = useState('');
  const [at, setAt] = useState(0);
  const rows = useRef(null);
  const input = useRef(null);
  Object.assign(remembered, { text, mode, match });

  useEffect(() => { input.current.focus(); input.current.select(); }, [mode]);
  useEffect(() => {
    if (!text.trim()) { setFound(null); setFault(''); return undefined; }
    const stop = new AbortController();
    const later = setTimeout(async () => {
      try {
        const out = await ask(mode, mode === 'lines' ? text : text.trim(), match, id, stop.signal);
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
      <${Button} name="close" label=${t('close') + ' (Esc)'} onClick=${close} /></label>
    <div class="modes"><span role="radiogroup" aria-label=${t('search')}>${tab('everywhere', t('everywhere'))}${tab('here', t('here'), !c)}${tab('lines', t('lines'), !c)}</span>
      ${mode === 'lines' && html`<label><input type="checkbox" checked=${match} onChange=${(e) => setMatch(e.currentTarget.checked)} /> ${t('caseSensitive')}</label>`}</div>
    ${fault && html`<p class="fault" role="alert">${fault}</p>`}
    ${list.length > 0 && html`<ul id="found" role="listbox" ref=${rows}>${list.map((row, i) => html`<li key=${i} id=${'found' + i} role="option" aria-selected=${i === at}
      onMouseMove=${() => i !== at && setAt(i)} onClick=${() => choose(row, id)}>${row.kind === 'hit' ? html`<${Hit} row=${row} />` : html`<${Line} row=${row} />`}</li>`)}</ul>`}
    ${!fault && html`<p class="note" role="status">${found ? (list.length ? found.note : t('noHits')) : mode === 'lines' ? t('grepIdle') : t('searchIdle')}</p>`}
  <//>`;
}
