// What a conversation is run with: the limit, the policy, the instructions.
import { html, useState } from './html.js';
import { policies, policyName, save } from '../state/settings.js';
import { t } from '../state/words.js';

function Form({ c, done }) {
  const [limit, setLimit] = useState(c.limit || '');
  const [policy, setPolicy] = useState(c.policy);
  const [instructions, setInstructions] = useState(c.instructions);
  const submit = async (e) => {
    e.preventDefault();
    if (await save(c.id, { limit, policy, instructions })) done();
  };
  return html`<form class="settings" onSubmit=${submit}>
    <label><span>${t('limit')}</span><input type="number" min="0" step="1" inputmode="numeric" value=${limit} placeholder="32768" onInput=${(e) => setLimit(e.currentTarget.value)} />
      <small>${t('limitHint')}</small></label>
    <label><span>${t('policy')}</span><select value=${policy} onChange=${(e) => setPolicy(e.currentTarget.value)}>
      ${policies.map((p) => html`<option key=${p} value=${p}>${policyName(p)}</option>`)}</select></label>
    <label><span>${t('instructionsLabel')}</span><textarea rows="3" value=${instructions} onInput=${(e) => setInstructions(e.currentTarget.value)} />
      <small>${t('instructionsHint')}</small></label>
    <div class="acts"><button type="submit" class="plain strong">${t('save')}</button><button type="button" class="plain" onClick=${done}>${t('cancel')}</button></div>
  </form>`;
}

export function Settings({ c }) {
  const [open, setOpen] = useState(false);
  return open ? html`<${Form} c=${c} done=${() => setOpen(false)} />`
    : html`<button type="button" class="link" onClick=${() => setOpen(true)}>${t('setup')}…</button>`;
}
