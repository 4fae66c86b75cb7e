// What was used by model, project and conversation, and by the tools whose calls were imported: the same table.
import { html } from './html.js';
import { money, num, percent } from '../state/figures.js';
import { href } from '../state/place.js';
import { t } from '../state/words.js';

// costs are amounts in several currencies, which are never added up.
export const costs = (of) => Object.entries(of).sort().map(([currency, x]) => money(x, currency)).join(' + ') || '—';

function Row({ x, name, all }) {
  const share = all ? x.total / all : 0;
  return html`<tr><th scope="row">${name}</th><td>${num(x.calls)}</td><td>${num(x.input)}</td><td>${x.input && x.cached ? percent(x.cached / x.input) : '—'}</td><td>${num(x.output)}</td><td>${costs(x.costs)}</td>
    <td><span class="share" role="img" aria-label=${percent(share)} title=${percent(share)}><i style=${{ width: `${Math.max(share > 0 ? 0.8 : 0, share * 100)}%` }} /></span></td></tr>`;
}

const Table = ({ title, fact, head, rows, all, name }) => html`<section><h2>${title}${fact && html` <small>${fact}</small>`}</h2><table>
  <thead><tr><th scope="col">${head}</th><th scope="col">${t('usage.calls')}</th><th scope="col">${t('usage.in')}</th><th scope="col">${t('usage.cachedShare')}</th><th scope="col">${t('usage.out')}</th><th scope="col">${t('usage.cost')}</th><th scope="col">${t('usage.share')}</th></tr></thead>
  <tbody>${rows.map((x) => html`<${Row} key=${x.name} x=${x} all=${all} name=${name(x)} />`)}</tbody></table></section>`;

export function Tables({ s }) {
  const all = s.total.total;
  const plain = (x) => x.name || t('usage.unknown');
  return html`<${Table} title=${t('usage.byModel')} head=${t('usage.model')} rows=${s.models} all=${all} name=${plain} />
    <${Table} title=${t('usage.byProject')} head=${t('usage.project')} rows=${s.projects} all=${all} name=${plain} />
    <${Table} title=${t('usage.byConversation')} fact=${s.conversations.length >= 20 ? t('usage.top', s.conversations.length) : ''} head=${t('usage.conversation')} rows=${s.conversations} all=${all}
      name=${(x) => html`<a href=${href(x.name)} title=${x.title}>${x.title}</a>`} />
    ${s.tools.length > 0 && html`<${Table} title=${t('usage.byTool')} fact=${t('usage.noBudget')} head=${t('usage.tool')} rows=${s.tools} all=${all} name=${plain} />`}`;
}
