// What stands around a hit, and what can be done with it.
import { html } from './html.js';
import { icon } from './icons.js';
import { Marked } from './text.js';
import { stateOf } from './paletterow.js';
import { range } from '../state/context.js';
import { day, dayWithYear, num } from '../state/figures.js';
import { choose, fork, near, pin, pinnable, wordsOf } from '../state/found.js';
import { pieces } from '../state/marks.js';
import { mayWrite } from '../state/session.js';
import { t } from '../state/words.js';

const Beside = ({ m, words }) => html`<li><span class="n">#${num(m.seq)}</span><span class="says">${pieces(near(m), words).map((p) => (p.mark ? html`<mark>${p.text}</mark>` : p.text))}</span></li>`;

const icons = { compacted: 'compact', live: 'eye', branch: 'fork' };

function said(h, state) {
  if (state === 'compacted') return h.card ? t('palette.since', day(h.card.since), range(h.card)) : t('isCompacted');
  return t(state === 'live' ? 'palette.isLive' : 'palette.elsewhere');
}

export function Near({ row }) {
  const { h } = row;
  const state = stateOf(h);
  const words = wordsOf(h);
  const writes = mayWrite.value;
  return html`<section class="around" aria-label=${t('palette.preview')}>
    <h2><b>${row.title}</b> <span>${row.project ? `${row.project} · ` : ''}${dayWithYear(h.created_at)}</span></h2>
    <ol>${(h.before || []).map((m) => html`<${Beside} key=${m.id} m=${m} words=${words} />`)}
      <li class=${'lit ' + state}><span class="n">#${num(h.seq)}</span><span class="says"><${Marked} text=${h.snippet} spans=${h.spans} /></span></li>
      ${(h.after || []).map((m) => html`<${Beside} key=${m.id} m=${m} words=${words} />`)}</ol>
    <div class="acts"><p class=${state}>${icon(icons[state])}<span>${said(h, state)}</span></p>
      <button type="button" class="plain strong" onClick=${() => choose(row)}>${h.on_path ? t('palette.openAt', num(h.seq)) : t('palette.open')} <span aria-hidden="true">↵</span></button>
      ${writes && pinnable(h) && html`<button type="button" class="plain" aria-pressed=${Boolean(h.pinned)} onClick=${() => pin(h)}>${icon('pin')}${h.pinned ? t('unpin') : t('palette.pinIt')}</button>`}
      ${writes && h.on_path && html`<button type="button" class="plain" onClick=${() => fork(row)}>${icon('fork')}${t('palette.fork')}</button>`}</div>
  </section>`;
}
