// Projects: which there are, and what the conversations of one inherit.
import { html, useEffect, useState } from './html.js';
import { Head } from './header.js';
import { icon } from './icons.js';
import { Policy } from './numbers.js';
import { Choice, Limit, Model } from './settings.js';
import { setProject } from '../state/conversations.js';
import { num } from '../state/figures.js';
import { question } from '../state/panels.js';
import { go, place, show, viewHref } from '../state/place.js';
import { read } from '../state/policies.js';
import * as projects from '../state/projects.js';
import { admin, mayWrite } from '../state/session.js';
import { doors, efforts, fields, keeps, learn, scopes, stored } from '../state/settings.js';
import { t } from '../state/words.js';

function List() {
  useEffect(() => { projects.refresh(); }, []);
  return html`<${Head} title=${t('set.projects')}>${mayWrite.value && html`<button type="button" class="plain" onClick=${() => { question.value = { kind: 'project' }; }}>${icon('plus')}${t('side.newProject')}</button>`}<//>
    <div class="place"><div class="paper"><p class="quiet">${t('set.projectsAbout')}</p>
    <ul class="entries">${projects.list.value.map((p) => html`<li key=${p.name}><a href=${viewHref('projects', p.name)}><b class="cut">${projects.nameOf(p)}</b>
      <small>${p.title ? `${p.name} · ` : ''}${t('set.talks', num(p.conversations), p.conversations)}${p.version ? ` · ${t('set.setUp')}` : ''}</small></a>
      <button type="button" class="plain" onClick=${() => { setProject(p.name); go(null); }}>${t('set.show')}</button></li>`)}</ul></div></div>`;
}

function Form({ p }) {
  const [f, setForm] = useState(fields(p));
  const [wrong, setWrong] = useState([]);
  const set = (x) => setForm((now) => ({ ...now, ...x }));
  useEffect(() => { learn(); }, []);
  const may = admin.value;
  const submit = async (e) => {
    e.preventDefault();
    const bad = read(f.numbers).wrong;
    setWrong(bad);
    if (!bad.length) await projects.save(p, stored(f, p).body);
  };
  const remove = () => { question.value = { kind: 'sure', title: t('set.deleteProject'), text: t('set.deleteProjectSure', projects.nameOf(p), num(p.conversations)), yes: t('set.deleteProject'),
    run: async () => { if (await projects.remove(p)) show('projects'); } }; };
  const text = (key, label, rest) => html`<label><span>${label}</span><input value=${f[key]} ...${rest} onInput=${(e) => set({ [key]: e.currentTarget.value })} /></label>`;
  return html`<form class="settings paper" noValidate onSubmit=${submit}><p class="quiet">${t('set.projectAbout', num(p.conversations), p.conversations)}${may ? '' : ` ${t('set.adminOnly')}`}</p>
    <fieldset disabled=${!may}>
    ${text('title', t('set.title'), { type: 'text', maxlength: 200, placeholder: p.name })}
    <label><span>${t('instructionsLabel')}</span><textarea rows="5" value=${f.instructions} onInput=${(e) => set({ instructions: e.currentTarget.value })} /><small>${t('set.projectInstructions')}</small></label>
    <${Model} value=${f.model} set=${set} none=${t('set.serverDefault')} />
    <${Limit} value=${f.limit} set=${set} hint=${t('limitHint')} />
    <${Choice} label=${t('set.effort')} value=${f.effort} of=${efforts} name=${(x) => t('set.effort.' + (x || 'default'))} onChange=${(effort) => set({ effort })} />
    <${Policy} f=${f} set=${set} wrong=${wrong} inherits=${t('set.serverDefault')} />
    <${Choice} label=${t('set.scope')} value=${f.scope} of=${scopes} name=${(x) => t('set.scope.' + (x || 'default'))} onChange=${(scope) => set({ scope })} hint=${t('set.scopeAbout')} />
    <${Choice} label=${t('set.keep')} value=${f.keep} of=${keeps} name=${(x) => t('set.keep.' + (x || 'default'))} onChange=${(keep) => set({ keep })} hint=${t('set.keepAbout')} />
    <${Choice} label=${t('set.door')} value=${f.door} of=${doors} name=${(x) => t('set.door.' + (x || 'default'))} onChange=${(door) => set({ door })} hint=${t('set.doorAbout')} />
    <div class="beside">${text('tokens', t('set.tokensADay'), { type: 'number', min: 0, step: 1, placeholder: t('set.noBound') })}
      ${text('money', t('set.moneyADay'), { type: 'number', min: 0, step: 'any', placeholder: t('set.noBound') })}${text('currency', t('set.currency'), { type: 'text', maxlength: 8, placeholder: 'USD' })}</div>
    <div class="acts"><button type="submit" class="plain strong">${t('save')}</button>
      ${p.version > 0 && html`<button type="button" class="plain bad" onClick=${remove}>${icon('trash')}${t('set.deleteProject')}</button>`}</div></fieldset></form>`;
}

function One({ name }) {
  useEffect(() => { projects.look(name); }, [name]);
  const p = projects.open.value && projects.open.value.name === name ? projects.open.value : projects.missing.value === name ? projects.blank(name) : null;
  return html`<${Head} title=${p ? projects.nameOf(p) : name}><a class="plain" href=${viewHref('projects')}>${icon('back')}${t('set.projects')}</a><//>
    <div class="place">${p ? html`<${Form} key=${`${p.name} ${p.version}`} p=${p} />` : html`<p class="quiet paper">${t('loading')}</p>`}</div>`;
}

export const Projects = () => (place.value.part ? html`<${One} name=${place.value.part} />` : html`<${List} />`);
