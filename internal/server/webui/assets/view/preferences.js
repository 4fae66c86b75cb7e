// The settings: what this browser remembers, and what the server says.
import { html, useEffect } from './html.js';
import { Backups } from './backups.js';
import { Remotes } from './remotes.js';
import { Head } from './header.js';
import { icon } from './icons.js';
import { Keys } from './keyring.js';
import { Setups } from './setups.js';
import { bytes, clock, day, num } from '../state/figures.js';
import * as keyboard from '../state/keyboard.js';
import { place, viewHref } from '../state/place.js';
import * as policies from '../state/policies.js';
import { admin, signOut, who } from '../state/session.js';
import { limits } from '../state/offered.js';
import { learn, models } from '../state/settings.js';
import * as theme from '../state/theme.js';
import { lang, setLang, t } from '../state/words.js';

// Radio is a choice of a few, one of which is taken.
function Radio({ label, value, of, onChange }) {
  const onKeyDown = (e) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
    if (!by) return;
    e.preventDefault();
    const all = [...e.currentTarget.children];
    const to = all[(all.indexOf(document.activeElement) + by + all.length) % all.length];
    to.click();
    to.focus();
  };
  return html`<div class="pick"><span>${label}</span><div class="switch" role="radiogroup" aria-label=${label} onKeyDown=${onKeyDown}>${of.map(([key, name, tongue]) => html`<button key=${key} type="button" role="radio" lang=${tongue}
    aria-checked=${value === key} tabindex=${value === key ? 0 : -1} onClick=${() => onChange(key)}>${name}</button>`)}</div></div>`;
}

function Appearance() {
  return html`<p class="whereabouts">${icon('panel')}${t('set.browserOnly')}</p>
    <${Radio} label=${t('set.language')} value=${lang.value} of=${[['en', 'English', 'en'], ['zh', '简体中文', 'zh-CN']]} onChange=${setLang} />
    <${Radio} label=${t('set.theme')} value=${theme.theme.value} of=${theme.themes.map((x) => [x, t(x)])} onChange=${theme.setTheme} />
    <${Radio} label=${t('set.density')} value=${theme.density.value} of=${theme.densities.map((x) => [x, t('set.' + x)])} onChange=${theme.setDensity} />
    <${Radio} label=${t('set.letters')} value=${keyboard.letters.value} of=${[[true, t('set.on')], [false, t('set.off')]]} onChange=${keyboard.setLetters} />
    <p class="quiet">${t('set.lettersAbout')}</p>
    <button type="button" class="plain" onClick=${() => keyboard.run('keys')}>${icon('keyboard')}${t('set.allKeys')}</button>`;
}

function Models() {
  const list = models.value;
  const def = list.find((m) => m.default);
  const numbers = ['trigger_share', 'trigger_limit_share', 'trigger_messages', 'trigger_tokens', 'after_share', 'keep_share', 'keep_messages', 'summary_tokens', 'placeholders_max', 'pinned_share'];
  const own = policies.names().filter((p) => p !== 'auto');
  const cost = (m) => (m.price ? `${m.price.input ?? '–'} / ${m.price.output ?? '–'}` : '–');
  return html`<p class="whereabouts">${icon('web')}${t('set.onServer')}</p><p>${t('set.defaultsAbout')} <a class="link" href=${viewHref('projects')}>${t('set.projects')}</a></p>
    <h3>${t('set.models')}</h3><div class="scrolls"><table><thead><tr><th>${t('model')}</th><th>${t('limit')}</th><th>${t('set.answer')}</th><th>${t('set.price')}</th></tr></thead><tbody>
      ${list.map((m) => html`<tr key=${m.name}><td>${m.name}${m === def && html` <small>${t('policyDefault')}</small>`}</td><td>${num(m.limit)} <small>${t('from.' + m.limit_from)}</small></td><td>${m.max_output ? num(m.max_output) : '–'}</td><td>${cost(m)}</td></tr>`)}</tbody></table></div>
    <h3>${t('set.policies')}</h3><dl class="policies">${policies.names().map((p) => html`<div key=${p}><dt><code>${p}</code></dt><dd>${policies.about(p)}</dd></div>`)}</dl>
    <div class="scrolls"><table class="numbers"><thead><tr><th>${t('set.number')}</th>${own.map((p) => html`<th key=${p}>${p}</th>`)}</tr></thead><tbody>
      ${numbers.map((n) => html`<tr key=${n}><td><code>${n}</code><small>${policies.aboutNumber(n)}</small></td>${own.map((p) => html`<td key=${p}>${policies.own(p, n)}</td>`)}</tr>`)}</tbody></table></div>`;
}

function Limits() {
  const l = limits.value;
  if (!l) return html`<p class="quiet">${t('loading')}</p>`;
  const every = { 1000: 'set.perSecond', 60000: 'set.perMinute', 3600000: 'set.perHour', 86400000: 'set.perDay' };
  const rate = l.chats.chats > 0 ? t(every[l.chats.per_ms] || 'set.perHour', num(l.chats.chats)) : t('set.noBound');
  const facts = [['set.l.message', num(l.message_chars)], ['set.l.parts', num(l.message_parts)], ['set.l.images', num(l.message_images)], ['set.l.attachment', bytes(l.attachment_bytes)],
    ['set.l.body', bytes(l.body_bytes)], ['set.l.import', bytes(l.import_bytes)], ['set.l.chats', rate], ['set.l.messages', t('set.noBound')]];
  return html`<p class="whereabouts">${icon('web')}${t('set.onServer')}</p><p>${t('set.limitsAbout')}</p>
    <dl class="facts-of">${facts.map(([k, v]) => html`<div key=${k}><dt>${t(k)}</dt><dd>${v}</dd></div>`)}</dl>`;
}

function Account() {
  const w = who.value;
  if (!w) return html`<p class="quiet">${t('loading')}</p>`;
  const facts = [[t('set.who'), w.name], [t('set.role'), `${w.role} – ${t('set.role.' + w.role)}`], [t('set.projects'), w.projects.length ? w.projects.join(', ') : t('side.allProjects')],
    [t('set.until'), w.expires_at ? `${day(w.expires_at)}, ${clock(w.expires_at)}` : t('set.forEver')]];
  return html`<p>${t(w.key_needed ? 'set.signedInAbout' : 'set.openAbout')}</p><dl class="facts-of">${facts.map(([k, v]) => html`<div key=${k}><dt>${k}</dt><dd>${v}</dd></div>`)}</dl>
    ${w.key_needed && html`<button type="button" class="plain" onClick=${signOut}>${t('signOut')}</button>`}`;
}

const parts = { appearance: Appearance, models: Models, limits: Limits, agents: Setups, backups: Backups, sync: Remotes, keys: Keys, account: Account };

export function Preferences() {
  useEffect(() => { learn(); }, []);
  const names = Object.keys(parts).filter((x) => (x !== 'keys' || admin.value) && (!['agents', 'backups', 'sync'].includes(x) || (who.value && who.value[x])));
  const name = names.includes(place.value.part) ? place.value.part : 'appearance';
  const Part = parts[name];
  return html`<${Head} title=${t('side.settings')} /><div class="place preferences">
    <nav aria-label=${t('side.settings')}>${names.map((x) => html`<a key=${x} href=${viewHref('settings', x)} aria-current=${x === name ? 'page' : null}>${t('set.part.' + x)}</a>`)}</nav>
    <section class="paper" aria-label=${t('set.part.' + name)}><h2>${t('set.part.' + name)}</h2><${Part} /></section></div>`;
}
