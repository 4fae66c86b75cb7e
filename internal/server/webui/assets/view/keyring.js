// Keys, for an admin: making one for somebody, whose secret is shown once, and ending one.
import { html, useEffect, useState } from './html.js';
import { icon } from './icons.js';
import { clock, day, num } from '../state/figures.js';
import * as keys from '../state/keys.js';
import { say } from '../state/notices.js';
import { question } from '../state/panels.js';
import * as projects from '../state/projects.js';
import { who } from '../state/session.js';
import { doors } from '../state/settings.js';
import { t } from '../state/words.js';

function Fresh() {
  const k = keys.fresh.value;
  useEffect(() => () => keys.forget(), []);
  if (!k) return null;
  const copy = async () => {
    try { await navigator.clipboard.writeText(k.secret); say(t('copied')); } catch { say(t('set.copyByHand')); }
  };
  return html`<div class="secret" role="status"><b>${t('set.secretOf', k.name)}</b><p>${t('set.secretOnce')}</p>
    <div class="oneline"><input readonly value=${k.secret} aria-label=${t('key')} onFocus=${(e) => e.currentTarget.select()} /><button type="button" class="plain strong" onClick=${copy}>${icon('copy')}${t('copy')}</button>
    <button type="button" class="plain" onClick=${keys.forget}>${t('set.secretKept')}</button></div></div>`;
}

const blank = { name: '', role: 'write', projects: [], days: '90', door: '', tokens: '', money: '', currency: '' };

function Add() {
  const [f, setForm] = useState(blank);
  const set = (x) => setForm((now) => ({ ...now, ...x }));
  const whole = !who.value || !who.value.projects.length; // the admin sees all projects
  useEffect(() => { projects.refresh(); if (!whole) set({ projects: who.value.projects }); }, []);
  const submit = async (e) => {
    e.preventDefault();
    const made = await keys.add({ name: f.name.trim(), role: f.role, projects: f.projects, days: Number(f.days), door: f.door, tokens: Math.floor(Number(f.tokens)) || 0, money: Number(f.money) || 0, currency: f.currency.trim() });
    if (made) setForm({ ...blank, projects: whole ? [] : who.value.projects });
  };
  const pick = (name) => (e) => set({ projects: e.currentTarget.checked ? [...f.projects, name] : f.projects.filter((x) => x !== name) });
  const text = (key, label, rest) => html`<label><span>${label}</span><input value=${f[key]} ...${rest} onInput=${(e) => set({ [key]: e.currentTarget.value })} /></label>`;
  const lasts = [['7', t('set.days', 7)], ['30', t('set.days', 30)], ['90', t('set.days', 90)], ['365', t('set.days', 365)], ['0', t('set.untilRevoked')]];
  return html`<form class="settings add" onSubmit=${submit}><h3>${t('set.addKey')}</h3>
    <div class="beside">${text('name', t('set.keyName'), { type: 'text', required: true, maxlength: 100 })}
      <label><span>${t('set.role')}</span><select value=${f.role} onChange=${(e) => set({ role: e.currentTarget.value })}>${['read', 'write', 'admin'].map((r) => html`<option key=${r} value=${r}>${r}</option>`)}</select><small>${t('set.role.' + f.role)}</small></label>
      <label><span>${t('set.lasts')}</span><select value=${f.days} onChange=${(e) => set({ days: e.currentTarget.value })}>${lasts.map(([d, name]) => html`<option key=${d} value=${d}>${name}</option>`)}</select></label></div>
    <fieldset class="several"><legend>${t('set.projects')}</legend><p class="quiet">${whole ? t('set.keyProjects') : t('set.keyProjectsOwn')}</p>
      ${projects.list.value.map((p) => html`<label key=${p.name} class="check"><input type="checkbox" checked=${f.projects.includes(p.name)} onChange=${pick(p.name)} /><span class="cut">${projects.nameOf(p)}</span></label>`)}</fieldset>
    <label><span>${t('set.door')}</span><select value=${f.door} onChange=${(e) => set({ door: e.currentTarget.value })}>${doors.map((d) => html`<option key=${d} value=${d}>${t(d ? 'set.door.' + d : 'set.doorOfProject')}</option>`)}</select><small>${t('set.doorAbout')}</small></label>
    ${whole && html`<div class="beside">${text('tokens', t('set.tokensADay'), { type: 'number', min: 0, step: 1, placeholder: t('set.noBound') })}
      ${text('money', t('set.moneyADay'), { type: 'number', min: 0, step: 'any', placeholder: t('set.noBound') })}${text('currency', t('set.currency'), { type: 'text', maxlength: 8, placeholder: 'USD' })}</div>`}
    <div class="acts"><button type="submit" class="plain strong" disabled=${!f.name.trim() || (!whole && !f.projects.length)}>${t('set.addKey')}</button></div></form>`;
}

function Entry({ k }) {
  const state = keys.stateOf(k);
  const b = k.budget;
  const facts = [`${k.role} – ${t('set.role.' + k.role)}`, k.projects.length ? k.projects.join(', ') : t('side.allProjects'),
    state === 'revoked' ? t('set.wasRevoked', day(k.revoked_at)) : state === 'expired' ? t('set.hasExpired', day(k.expires_at)) : k.expires_at ? t('set.expires', day(k.expires_at)) : t('set.untilRevoked'),
    k.door ? t('set.doorIs', t('set.door.' + k.door)) : '',
    k.last_used_at ? t('set.used', clock(k.last_used_at)) : t('set.neverUsed'),
    b && b.tokens_per_day ? t('set.tokensOf', num(b.tokens_per_day)) : '', b && b.money_per_day ? t('set.moneyOf', num(b.money_per_day), b.currency || 'USD') : ''].filter(Boolean);
  const ask = () => { question.value = { kind: 'sure', title: t('set.revoke'), text: t('set.revokeSure', k.name), yes: t('set.revoke'), run: () => keys.revoke(k) }; };
  return html`<li class=${state}><span class="of"><b class="cut">${k.name}</b><small>${facts.join(' · ')}</small></span>
    ${state === 'usable' && html`<button type="button" class="plain bad" aria-label=${`${t('set.revoke')}: ${k.name}`} onClick=${ask}>${t('set.revoke')}</button>`}</li>`;
}

export function Keys() {
  useEffect(() => { keys.refresh(); }, []);
  const list = keys.list.value;
  return html`<p class="whereabouts">${icon('web')}${t('set.onServer')}</p><p>${t('set.keysAbout')}</p><${Fresh} />
    ${list && list.length > 0 && html`<ul class="entries keys">${list.map((k) => html`<${Entry} key=${k.id} k=${k} />`)}</ul>`}
    ${list && !list.length && html`<p class="nothing">${t('set.noKeys')}</p>`}<${Add} />`;
}
