// The palette: search across everything, and commands. Arrows choose, Enter goes there.
import { html, useEffect, useLayoutEffect, useRef } from './html.js';
import { Dialog } from './dialog.js';
import { icon } from './icons.js';
import { Filters } from './palettefilters.js';
import { Row } from './paletterow.js';
import { Near } from './palettenear.js';
import { choose, link } from '../state/found.js';
import { mac } from '../state/keyboard.js';
import { searchOpen } from '../state/panels.js';
import * as search from '../state/search.js';
import { t } from '../state/words.js';

export const Palette = () => (searchOpen.value ? html`<${Open} />` : null);

// said is how many there are, for everybody.
function said() {
  const c = search.count.value;
  if (!c) return '';
  if (c.kind === 'question') return c.text;
  if (c.kind === 'commands') return search.rows.value.length ? '' : t('palette.noCommand');
  if (c.kind === 'lines') return c.total ? t('matches', c.shown, c.total, c.partial) : t('noHits');
  const shown = search.rows.value.filter((r) => r.kind === 'hit').length;
  if (!shown) return t('noHits');
  const found = c.truncated ? t('palette.many', shown) : t('palette.found', c.total, c.conversations);
  return c.indexed == null ? found : found + ' · ' + t('palette.behind', Math.floor(100 * c.indexed));
}

const heads = { conversation: 'conversations', command: 'palette.commands' };

// Rows are the results, in groups where there are several kinds.
function Rows({ el, pick }) {
  const rows = search.rows.value;
  const groups = [];
  rows.forEach((row, i) => {
    const last = groups[groups.length - 1];
    if (last && last.kind === row.kind) last.rows.push([row, i]);
    else groups.push({ kind: row.kind, rows: [[row, i]] });
  });
  const dwell = useRef(0);
  const over = (i) => { clearTimeout(dwell.current); dwell.current = setTimeout(() => { search.at.value = i; }, 120); };
  const name = (kind) => (search.count.value ? t(heads[kind] || 'palette.results') : t('palette.recent'));
  const onScroll = (e) => { const s = e.currentTarget; if (s.scrollHeight - s.scrollTop - s.clientHeight < 300) search.more(); };
  return html`<div id="found" role="listbox" ref=${el} aria-label=${t('palette.results')} onScroll=${onScroll} onMouseLeave=${() => clearTimeout(dwell.current)}>
    ${groups.map((g) => html`<div role="group" key=${g.kind + g.rows[0][1]} aria-label=${name(g.kind)}>${(heads[g.kind] && search.mode.value !== 'commands') && html`<div class="kind" aria-hidden="true">${name(g.kind)}</div>`}
      ${g.rows.map(([row, i]) => html`<div key=${i} id=${'found' + i} role="option" aria-selected=${i === search.at.value} class=${'hit ' + row.kind}
        onMouseEnter=${() => over(i)} onClick=${(e) => pick(row, e)}><${Row} row=${row} /></div>`)}</div>`)}
  </div>`;
}

function Open() {
  const input = useRef(null);
  const list = useRef(null);
  const rows = search.rows.value;
  const at = search.at.value;
  const row = search.chosen.value;
  const mode = search.mode.value;
  useEffect(() => { input.current.focus(); input.current.select(); return search.follow(); }, []);
  useLayoutEffect(() => {
    const el = document.getElementById('found' + at);
    if (el) el.scrollIntoView({ block: 'nearest' });
  }, [at, rows]);

  const pick = (r, e) => {
    const to = link(r);
    if (to && (e.metaKey || e.ctrlKey)) window.open(to, '_blank', 'noopener');
    else choose(r);
  };
  const onKeyDown = (e) => {
    if (e.isComposing) return;
    const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (by) { e.preventDefault(); search.step(by); }
    if (e.key === 'Enter' && row) { e.preventDefault(); pick(row, e); }
  };
  const wide = row && row.kind === 'hit';
  const mod = mac.value ? '⌘↵' : 'Ctrl ↵';
  return html`<${Dialog} cls="palette" label=${t('palette.title')} onClose=${search.close}>
    <div class="ask">${icon('search')}<input ref=${input} type="text" value=${search.text.value} autocomplete="off" autocapitalize="off" spellcheck=${false} enterkeyhint="go" class=${mode === 'lines' ? 'mono' : ''}
      placeholder=${t(mode === 'lines' ? 'grepPlaceholder' : mode === 'commands' ? 'palette.commandsPlaceholder' : 'palette.placeholder')} aria-label=${t('palette.title')} role="combobox" aria-autocomplete="list"
      aria-expanded=${rows.length > 0} aria-controls="found" aria-activedescendant=${row ? 'found' + at : null} onInput=${(e) => { search.text.value = e.currentTarget.value; }} onKeyDown=${onKeyDown} />
      <button type="button" class="esc" aria-label=${t('palette.esc')} title=${t('palette.esc')} onClick=${search.close}><kbd>Esc</kbd>${icon('close')}</button></div>
    <${Filters} said=${said()} />
    ${search.fault.value && html`<p class="fault" role="alert">${search.fault.value}</p>`}
    <div class=${'results' + (wide ? ' beside' : '')}>
      <${Rows} el=${list} pick=${pick} />
      ${!rows.length && !search.fault.value && html`<p class="note">${search.count.value ? said() : mode === 'lines' ? t('grepIdle') : t('searchIdle')}</p>`}
      ${wide && html`<${Near} row=${row} />`}
    </div>
    <div class="tips" aria-hidden="true"><span><kbd>↑</kbd><kbd>↓</kbd> ${t('palette.choose')}</span><span><kbd>↵</kbd> ${t(mode === 'commands' ? 'palette.run' : 'palette.openThere')}</span>
      ${mode !== 'commands' && html`<span><kbd>${mod}</kbd> ${t('palette.newTab')}</span>`}<span><kbd>Tab</kbd> ${t('palette.filters')}</span>
      <span class="how">${t('palette.together')} · <b>></b> ${t('palette.forCommands')}</span></div>
  <//>`;
}
