// The open conversation: what you or the model see of it, and below that the composer.
import { html } from './html.js';
import { Composer } from './composer.js';
import { FirstSteps, Opening } from './first.js';
import { Model } from './model.js';
import { follow, Thread } from './thread.js';
import { add } from '../state/draft.js';
import { sees } from '../state/sees.js';
import { mayWrite } from '../state/session.js';
import { conversation, messages, opening } from '../state/thread.js';
import { asked, running } from '../state/turn.js';
import { t } from '../state/words.js';

export function Chat() {
  const held = conversation.value;
  const blank = !messages.value.length && !asked.value && !running.value && !opening.value;
  const carries = (e) => mayWrite.value && e.dataTransfer && e.dataTransfer.types.includes('Files');
  const over = (yes) => (e) => {
    if (!carries(e)) return;
    e.preventDefault();
    if (!yes && e.relatedTarget && e.currentTarget.contains(e.relatedTarget)) return;
    e.currentTarget.classList.toggle('dropping', yes);
  };
  const dropped = (e) => { if (!carries(e)) return; e.preventDefault(); e.currentTarget.classList.remove('dropping'); add(e.dataTransfer.files); };

  const above = blank ? html`<${Opening} />` : held && sees.value === 'model' ? html`<${Model} />` : html`<${Thread} />`;
  return html`<section class=${'chat' + (blank ? ' blank' : '')} aria-label=${t('messages', held ? held.messages : 0)} onDragEnter=${over(true)} onDragOver=${over(true)} onDragLeave=${over(false)} onDrop=${dropped}>
    ${above}<${Composer} sent=${follow} />${blank && html`<${FirstSteps} />`}
  </section>`;
}
