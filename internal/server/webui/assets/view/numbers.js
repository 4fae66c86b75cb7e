// The policy of compaction and its numbers, in words: the same for a conversation and a project.
import { html, useState } from './html.js';
import { num } from '../state/figures.js';
import * as policies from '../state/policies.js';
import { t } from '../state/words.js';

const shown = (name, n) => (policies.counts(name) ? (n === 0 ? '0' : num(n)) : String(n));

function Figure({ name, least, most, policy, value, wrong, onInput }) {
  const preset = policies.own(policy, name);
  return html`<label class=${'figure' + (wrong ? ' wrong' : '')}><span><code>${name}</code><small>${policies.aboutNumber(name)}</small></span>
    <input type="number" min=${least} max=${most} step=${policies.counts(name) ? 1 : 'any'} value=${value || ''} placeholder=${shown(name, preset)} aria-invalid=${wrong ? 'true' : null}
      title=${t('set.bounds', shown(name, least), shown(name, most))} onInput=${(e) => onInput(e.currentTarget.value)} />
    ${wrong && html`<em role="alert">${t('set.bounds', shown(name, least), shown(name, most))}</em>`}</label>`;
}

// Policy is the choice of a policy with its numbers. f are the fields of a form, set changes some.
export function Policy({ f, set, wrong = [], inherits }) {
  const [all, setAll] = useState(Object.keys(f.numbers).length > 0);
  const number = (name) => (text) => { const to = { ...f.numbers }; if (text.trim()) to[name] = text; else delete to[name]; set({ numbers: to }); };
  return html`<fieldset class="policy"><legend>${t('policy')}</legend>
    <label><select value=${f.policy} aria-label=${t('policy')} onChange=${(e) => set({ policy: e.currentTarget.value })}>
      ${['', ...policies.names()].map((p) => html`<option key=${p} value=${p}>${p === '' ? inherits : policies.policyName(p)}</option>`)}</select>
      <small>${policies.about(f.policy || 'auto')}</small></label>
    <button type="button" class="link" aria-expanded=${all} onClick=${() => setAll(!all)}>${t(all ? 'set.fewer' : 'set.numbers')}</button>
    ${all && html`<p class="quiet">${t('set.numbersAbout')}</p>${policies.groups().map((g) => html`<div class="figures" key=${g.key}><h4>${t('set.g.' + g.key)}</h4>
      ${g.numbers.map(([name, least, most]) => html`<${Figure} key=${name} name=${name} least=${least} most=${most} policy=${f.policy} value=${f.numbers[name]} wrong=${wrong.includes(name)} onInput=${number(name)} />`)}</div>`)}`}
  </fieldset>`;
}
