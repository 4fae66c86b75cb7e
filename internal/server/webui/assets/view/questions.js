// What is asked, or shown, over the page: where to move conversations, in which form they leave,
// what came of an import, whether something is really to go for ever.
import { html, useEffect, useRef, useState } from './html.js';
import { Asked } from './asked.js';
import { icon } from './icons.js';
import { Imported } from './imported.js';
import * as conversations from '../state/conversations.js';
import * as exports from '../state/exports.js';
import { num, percent } from '../state/figures.js';
import { say } from '../state/notices.js';
import { question } from '../state/panels.js';
import { show } from '../state/place.js';
import * as projects from '../state/projects.js';
import * as selection from '../state/selection.js';
import { admin } from '../state/session.js';
import * as spent from '../state/spent.js';
import { t } from '../state/words.js';

const close = () => { question.value = null; };

const titled = (some) => (some.length === 1 ? conversations.titleOf(some[0]) : t('side.chosen', some.length));

function Move({ some }) {
  const [other, setOther] = useState('');
  useEffect(() => { projects.refresh(); }, []);
  const to = async (name) => {
    close();
    await conversations.move(some, name);
    selection.end();
    projects.refresh();
  };
  const submit = (e) => { e.preventDefault(); if (other.trim()) to(other.trim()); };
  const all = some.every((c) => c.project === some[0].project) ? some[0].project : null;
  return html`<${Asked} title=${t('side.moveTitle', titled(some))}><ul class="choices">${projects.list.value.map((p) => html`<li key=${p.name}>
      <button type="button" disabled=${p.name === all} onClick=${() => to(p.name)}>${icon('folder')}<span class="cut">${projects.nameOf(p)}</span><small>${p.name === all ? t('side.isHere') : num(p.conversations)}</small></button></li>`)}</ul>
    <form class="oneline" onSubmit=${submit}><input type="text" value=${other} maxlength="100" placeholder=${t('side.otherProject')} aria-label=${t('side.otherProject')} onInput=${(e) => setOther(e.currentTarget.value)} />
      <button type="submit" class="plain strong" disabled=${!other.trim()}>${t('side.moveShort')}</button></form><//>`;
}

// save lets the browser fetch a file; several come one after another.
function save(some, form) {
  some.forEach((c, i) => setTimeout(() => {
    const a = document.createElement('a');
    a.href = exports.href(c.id, form);
    a.download = '';
    document.body.append(a);
    a.click();
    a.remove();
  }, i * 300));
}

function Export({ some }) {
  const take = (form) => () => { save(some, form); close(); selection.end(); };
  return html`<${Asked} title=${t('side.exportTitle', titled(some))}><ul class="choices forms">${exports.forms().map((f) => html`<li key=${f.key}>
    <button type="button" data-form=${f.key} onClick=${take(f)}>${icon('export')}<span><b>${exports.nameOf(f)}</b><small>${exports.about(f)}</small></span></button></li>`)}</ul><//>`;
}

// HandOff shows how another agent goes on: the command on this machine, and the brief to paste anywhere.
function HandOff({ c }) {
  const [brief, setBrief] = useState(null);
  const [agent, setAgent] = useState('claude-code');
  useEffect(() => { let gone = false; conversations.brief(c.id).then((b) => { if (!gone) setBrief(b); }); return () => { gone = true; }; }, [c.id]);
  const command = `scrollback handoff ${c.id} --to ${agent}`;
  const copy = (text) => async () => { try { await navigator.clipboard.writeText(text); say(t('copied')); } catch { say(t('set.copyByHand')); } };
  return html`<${Asked} title=${t('side.handoffTitle', conversations.titleOf(c))} wide><p>${t('side.handoffAbout')}</p>
    <div class="oneline"><select value=${agent} aria-label=${t('side.handoffTo')} onChange=${(e) => setAgent(e.currentTarget.value)}>${conversations.goOn.map((a) => html`<option key=${a} value=${a}>${a}</option>`)}</select>
      <input readonly value=${command} aria-label=${t('side.handoffCommand')} onFocus=${(e) => e.currentTarget.select()} /><button type="button" class="plain strong" onClick=${copy(command)}>${icon('copy')}${t('copy')}</button></div>
    <p>${t('side.handoffBrief')}</p>${brief === null ? html`<p class="quiet">${t('loading')}</p>` : brief && html`<textarea class="brief" readonly rows="10" aria-label=${t('side.handoffBrief')}>${brief}</textarea>
    <div class="acts"><button type="button" class="plain" onClick=${copy(brief)}>${icon('copy')}${t('copy')}</button></div>`}<//>`;
}

function Project() {
  const input = useRef(null);
  const [name, setName] = useState('');
  useEffect(() => { input.current.focus(); }, []);
  const submit = (e) => {
    e.preventDefault();
    const to = name.trim();
    if (!to) return;
    close();
    conversations.setProject(to);
    if (admin.value) show('projects', to);
  };
  return html`<${Asked} title=${t('side.newProject')}><form class="oneline" onSubmit=${submit}>
    <input ref=${input} type="text" value=${name} maxlength="100" placeholder=${t('side.projectName')} aria-label=${t('side.projectName')} onInput=${(e) => setName(e.currentTarget.value)} />
    <button type="submit" class="plain strong" disabled=${!name.trim()}>${t('side.create')}</button></form>
    <p class="quiet">${t('side.projectAbout')}</p><//>`;
}

function Usage({ c }) {
  const [got, setGot] = useState(null);
  useEffect(() => { let gone = false; spent.of(c.id).then((x) => { if (!gone) setGot(x); }); return () => { gone = true; }; }, [c.id]);
  const cost = (x) => (x.cost ? `${num(Number(x.cost.toPrecision(3)))} ${x.currency || 'USD'}` : '–');
  return html`<${Asked} title=${t('side.usageTitle', conversations.titleOf(c))}>${!got ? html`<p class="quiet">${t('loading')}</p>` : !got.length ? html`<p class="quiet">${t('side.noUsage')}</p>`
    : html`<table class="sums"><thead><tr><th>${t('model')}</th><th>${t('side.calls')}</th><th>${t('side.in')}</th><th>${t('side.cached')}</th><th>${t('side.out')}</th><th>${t('side.cost')}</th></tr></thead>
      <tbody>${got.map((x, i) => html`<tr key=${i}><td>${x.model}</td><td>${num(x.calls)}</td><td>${num(x.input_tokens)}</td><td>${x.input_tokens ? percent(x.cached_tokens / x.input_tokens) : '–'}</td><td>${num(x.output_tokens)}</td><td>${cost(x)}</td></tr>`)}</tbody></table>
      ${got.some((x) => x.estimated_share > 0) && html`<p class="quiet">${t('side.estimated')}</p>`}`}<//>`;
}

// Sure asks before what cannot be undone; the safe choice has the focus.
function Sure({ title, text, yes, run }) {
  const safe = useRef(null);
  useEffect(() => { safe.current.focus(); }, []);
  return html`<${Asked} title=${title}><p>${text}</p><div class="acts"><button ref=${safe} type="button" class="plain" onClick=${close}>${t('cancel')}</button>
    <button type="button" class="plain danger" onClick=${() => { close(); run(); }}>${yes}</button></div><//>`;
}

const kinds = { move: Move, export: Export, handoff: HandOff, project: Project, usage: Usage, sure: Sure, import: Imported };

export function Question() {
  const q = question.value;
  const Kind = q && kinds[q.kind];
  return Kind ? html`<${Kind} key=${q.kind} ...${q} />` : null;
}
