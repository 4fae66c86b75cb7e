// The trash: taking conversations out of it, and removing them for ever.
import { html, useEffect } from './html.js';
import { Head } from './header.js';
import { icon } from './icons.js';
import { list as conversations, titleOf } from '../state/conversations.js';
import { clock, iso, num, whole } from '../state/figures.js';
import { question } from '../state/panels.js';
import { href } from '../state/place.js';
import { mayWrite } from '../state/session.js';
import * as trash from '../state/trash.js';
import { t } from '../state/words.js';

const sure = (title, text, yes, run) => { question.value = { kind: 'sure', title, text, yes, run }; };

function Entry({ c }) {
  const title = titleOf(c);
  return html`<li><a href=${href(c.id)}><b class="cut">${title}</b><small>${c.project} · ${t('messages', c.messages)} · <time datetime=${iso(c.deleted_at)} title=${whole(c.deleted_at)}>${t('side.trashedAt', clock(c.deleted_at))}</time></small></a>
    ${mayWrite.value && html`<button type="button" class="plain" aria-label=${`${t('restore')}: ${title}`} onClick=${() => trash.restore(c)}>${icon('restore')}${t('restore')}</button>
      <button type="button" class="plain bad" aria-label=${`${t('side.purge')}: ${title}`} onClick=${() => sure(t('side.purge'), t('side.purgeSure', title, num(c.messages)), t('side.purge'), () => trash.purge(c))}>${icon('trash')}${t('side.purge')}</button>`}</li>`;
}

export function Trash() {
  useEffect(() => { trash.refresh(); }, [conversations.value.length]); // what goes into it, or is taken out elsewhere, changes the other list
  const list = trash.list.value;
  const n = trash.emptying.value;
  return html`<${Head} title=${t('trash')}>${mayWrite.value && list.length > 0 && html`<button type="button" class="plain bad" disabled=${n > 0}
      onClick=${() => sure(t('side.empty'), t('side.emptySure'), t('side.empty'), trash.empty)}>${icon('trash')}${n > 0 ? t('side.emptying', n) : t('side.empty')}</button>`}<//>
    <div class="place"><div class="paper"><p class="quiet">${t('side.trashAbout')}</p>
      ${!trash.loaded.value ? html`<p class="quiet">${t('loading')}</p>` : !list.length ? html`<p class="nothing">${t('trashEmpty')}</p>`
      : html`<ul class="entries">${list.map((c) => html`<${Entry} key=${c.id} c=${c} />`)}</ul>
        ${trash.cursor.value && html`<button type="button" class="plain" onClick=${trash.more}>${t('loadMore')}</button>`}`}</div></div>`;
}
