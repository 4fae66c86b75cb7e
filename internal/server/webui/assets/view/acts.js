// What can be done with a conversation: the same list in its row and in its header.
import { html } from './html.js';
import { Item } from './menu.js';
import * as conversations from '../state/conversations.js';
import { say } from '../state/notices.js';
import { panel, question } from '../state/panels.js';
import { go, href } from '../state/place.js';
import * as selection from '../state/selection.js';
import { mayWrite } from '../state/session.js';
import { conversation } from '../state/thread.js';
import { t } from '../state/words.js';

// toTrash puts conversations in the trash; what is open then is not shown any more.
export async function toTrash(some) {
  const gone = await conversations.trash(some);
  const c = conversation.value;
  if (c && gone.some((x) => x.id === c.id || (c.agent_of && c.agent_of.id === x.id))) go(null);
}

export async function fork(c) {
  const fresh = await conversations.fork(c);
  if (fresh) go(fresh.id);
}

async function copyLink(c) {
  try {
    await navigator.clipboard.writeText(new URL(href(c.id), location.href).href);
    say(t('copied'));
  } catch { say(new URL(href(c.id), location.href).href); }
}

const Pin = ({ c }) => { const is = conversations.isPinned(c.id); return html`<${Item} name="pin" onClick=${() => conversations.pin(c, !is)}>${t(is ? 'side.unpin' : 'side.pin')}<//>`; };

// Acts are the items for one; here says that it is the open one, naming begins to rename it.
export function Acts({ c, here, naming }) {
  const mine = mayWrite.value;
  return html`${mine && html`<${Item} name="pencil" onClick=${naming}>${t('rename')}<//>`}
    ${mine && !c.agent_of && html`<${Pin} c=${c} />`}
    ${mine && html`<${Item} name="folder" onClick=${() => { question.value = { kind: 'move', some: [c] }; }}>${t('side.move')}<//>
      <${Item} name="fork" onClick=${() => fork(c)}>${t('side.fork')}<//>`}
    <${Item} name="export" onClick=${() => { question.value = { kind: 'export', some: [c] }; }}>${t('side.exportAs')}<//>
    <${Item} name="agent" onClick=${() => { question.value = { kind: 'handoff', c }; }}>${t('side.handoff')}<//>
    <${Item} name="copy" onClick=${() => copyLink(c)}>${t('side.link')}<//>
    ${here && html`<${Item} name="usage" onClick=${() => { question.value = { kind: 'usage', c }; }}>${t('side.usageOf')}<//>
      ${mine && html`<${Item} name="archive" onClick=${() => conversations.archive(c)}>${t('side.fullCopy')}<//>`}
      <${Item} name="tune" onClick=${() => { panel.value = 'settings'; }}>${t('setup')}<//>`}
    ${!here && mine && html`<${Item} name="check" onClick=${() => selection.begin(c.id)}>${t('side.select')}<//>`}
    ${mine && html`<hr /><${Item} name="trash" cls="bad" onClick=${() => toTrash([c])}>${t('toTrash')}<//>`}`;
}
