// What a conversation is run with: the form that stands beside it.
import { html, useEffect, useState } from './html.js';
import { Policy } from './numbers.js';
import { num } from '../state/figures.js';
import { read } from '../state/policies.js';
import { mayWrite } from '../state/session.js';
import { efforts, fields, learn, models, save, scopes } from '../state/settings.js';
import { t } from '../state/words.js';

// Model is the choice of a model, of those that are set up here and the one that is named already.
export function Model({ value, set, none }) {
  const list = models.value;
  const names = list.map((m) => m.name);
  return html`<label><span>${t('model')}</span><select value=${value} onChange=${(e) => set({ model: e.currentTarget.value })}>
    <option value="">${none}</option>${value && !names.includes(value) && html`<option value=${value}>${value}</option>`}
    ${list.map((m) => html`<option key=${m.name} value=${m.name}>${m.name} · ${num(m.limit)}</option>`)}</select></label>`;
}

export const Limit = ({ value, set, hint }) => html`<label><span>${t('limit')}</span><input type="number" min="0" step="1" inputmode="numeric" value=${value} placeholder="32768" onInput=${(e) => set({ limit: e.currentTarget.value })} />
  <small>${hint}</small></label>`;

export const Choice = ({ label, value, of, name, onChange, hint }) => html`<label><span>${label}</span><select value=${value} onChange=${(e) => onChange(e.currentTarget.value)}>
  ${of.map((x) => html`<option key=${x} value=${x}>${name(x)}</option>`)}</select>${hint && html`<small>${hint}</small>`}</label>`;

const Check = ({ label, hint, checked, onChange }) => html`<label class="check"><input type="checkbox" checked=${checked} onChange=${(e) => onChange(e.currentTarget.checked)} /><span>${label}<small>${hint}</small></span></label>`;

// Form is the settings of conversation c; done is called when they were taken, or not wanted.
export function Form({ c, done }) {
  const was = fields(c);
  const [f, setForm] = useState(was);
  const [wrong, setWrong] = useState([]);
  const set = (x) => setForm((now) => ({ ...now, ...x }));
  useEffect(() => { learn(); }, []);
  const submit = async (e) => {
    e.preventDefault();
    const bad = read(f.numbers).wrong;
    setWrong(bad);
    if (!bad.length && await save(c.id, f, was)) done();
  };
  return html`<form class="settings" noValidate onSubmit=${submit}>
    <${Model} value=${f.model} set=${set} none=${t('set.inherit')} />
    <label><span>${t('instructionsLabel')}</span><textarea rows="4" value=${f.instructions} onInput=${(e) => set({ instructions: e.currentTarget.value })} />
      <small>${t('instructionsHint')}</small></label>
    <${Limit} value=${f.limit} set=${set} hint=${t('limitHint')} />
    <${Choice} label=${t('set.effort')} value=${f.effort} of=${efforts} name=${(x) => t('set.effort.' + (x || 'default'))} onChange=${(effort) => set({ effort })} />
    <${Policy} f=${f} set=${set} wrong=${wrong} inherits=${t('set.inherit')} />
    <${Choice} label=${t('set.scope')} value=${f.scope} of=${scopes} name=${(x) => t('set.scope.' + (x || 'default'))} onChange=${(scope) => set({ scope })} hint=${t('set.scopeAbout')} />
    <${Check} label=${t('set.agents')} hint=${t('set.agentsAbout')} checked=${f.agents} onChange=${(agents) => set({ agents })} />
    <${Check} label=${t('set.archive')} hint=${t('set.archiveAbout')} checked=${f.archive} onChange=${(archive) => set({ archive })} />
    ${c.roots && c.roots.length > 0 && html`<div class="roots"><span>${t('set.roots')}</span>${c.roots.map((r) => html`<code key=${r}>${r}</code>`)}</div>`}
    <div class="acts"><button type="submit" class="plain strong" disabled=${!mayWrite.value}>${t('save')}</button><button type="button" class="plain" onClick=${done}>${t('cancel')}</button></div>
  </form>`;
}

