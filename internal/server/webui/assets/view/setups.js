// The agents of this machine, for whoever runs the server on it. What writes into their files is shown as a command.
import { html, useEffect } from './html.js';
import { icon } from './icons.js';
import { clock, num } from '../state/figures.js';
import { say } from '../state/notices.js';
import * as setups from '../state/setups.js';
import { t } from '../state/words.js';

function Command({ text }) {
  const copy = async () => {
    try { await navigator.clipboard.writeText(text); say(t('copied')); } catch { say(t('set.copyByHand')); }
  };
  return html`<span class="command"><code>${text}</code><button type="button" class="plain" aria-label=${`${t('copy')}: ${text}`} onClick=${copy}>${icon('copy')}</button></span>`;
}

// how says what an agent has, and what its hooks did.
function how(a) {
  if (setups.isService(a)) return [t('agents.serviceIs')];
  if (!a.installed) return [t('agents.none')];
  const events = (a.hooks || []).map((e) => t('agents.event.' + e)).join(t('agents.comma'));
  const out = [events ? t('agents.hooks', events) : t('agents.serverOnly')];
  const did = a.asked;
  if (did && did.asked) out.push(t('agents.asked', num(did.spoke), num(did.asked), clock(did.last_asked), num(Math.round(did.median_ms))));
  return out;
}

function Entry({ a }) {
  const toggle = async (e) => {
    const box = e.currentTarget;
    if (!await setups.silence(a, !box.checked)) box.checked = !a.off;
  };
  const bad = setups.obstacles(a);
  const command = setups.command(a);
  return html`<li data-agent=${a.agent}><span class="of"><b class="cut">${a.title || (setups.isService(a) ? t('agents.service') : a.agent)}</b>${how(a).map((x) => html`<small key=${x}>${x}</small>`)}
      ${a.off && html`<small class="quiet">${t('agents.silenced')}</small>`}
      ${bad.length > 0 && html`<ul class="astray">${bad.map(([key, ...of]) => html`<li key=${key + of.join()}>${t(key, ...of)}</li>`)}</ul>`}
      ${command && html`<${Command} text=${command} />`}
      ${a.installed && html`<details><summary>${t('agents.files')}</summary>${(a.files || []).map((f) => html`<code key=${f}>${f}</code>`)}${a.program && html`<small>${t('agents.calls', a.program)}</small>`}${!setups.isService(a) && html`<${Command} text=${`scrollback uninstall --agent ${a.agent}`} />`}</details>`}</span>
    ${a.installed && (a.hooks || []).length > 0 && html`<label class="hooks"><input type="checkbox" role="switch" checked=${!a.off} aria-label=${t('agents.switch', a.title || a.agent)} onChange=${toggle} /><span aria-hidden="true">${t('agents.hooksShort')}</span></label>`}</li>`;
}

export function Setups() {
  useEffect(() => { setups.refresh(); }, []);
  const list = setups.list.value;
  return html`<p class="whereabouts">${icon('panel')}${t('agents.here')}</p><p>${t('agents.about')}</p>
    ${!list && setups.busy.value && html`<p class="quiet" role="status">${t('agents.looking')}</p>`}
    ${list && list.length > 0 && html`<ul class="entries agents">${list.map((a) => html`<${Entry} key=${a.agent} a=${a} />`)}</ul>`}
    ${list && !list.length && html`<p class="nothing">${t('agents.nobody')}</p>`}
    <div class="acts"><button type="button" class="plain" disabled=${setups.busy.value} onClick=${setups.refresh}>${t('agents.again')}</button></div>
    <p class="quiet">${t('agents.commandsAbout')}</p>`;
}
