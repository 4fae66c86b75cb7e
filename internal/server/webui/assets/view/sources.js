// What is known about a turn beside its messages: the pages that were found for it on the web,
// and why a search failed.
import { html } from './html.js';
import { icon } from './icons.js';
import { hostOf, sources } from '../state/web.js';
import { t } from '../state/words.js';

// Searched is one quiet line for each search.
export const Searched = ({ searches }) => searches.map((s) => html`<p class="searched" key=${s.query}>${icon('web')}
  <span>${s.error ? t('noSearch', s.error) : s.query ? t('searched', s.query) : t('searchedWeb')}</span></p>`);

export function About({ meta }) {
  if (!meta || !meta.search) return null;
  const pages = sources(meta.search);
  return html`<footer class="about">
    <${Searched} searches=${meta.search} />
    ${pages.length > 0 && html`<ol class="sources" aria-label=${t('sources')}>${pages.map((r) => html`<li key=${r.url}>
      <a href=${r.url} target="_blank" rel="noopener noreferrer" title=${r.text || null}>${r.title || hostOf(r.url)}</a> <span>${hostOf(r.url)}</span></li>`)}</ol>`}
  </footer>`;
}
