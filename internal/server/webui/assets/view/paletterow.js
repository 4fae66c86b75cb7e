// One thing that was found: a message, a line, a conversation, a command.
import { html } from './html.js';
import { icon } from './icons.js';
import { Marked } from './text.js';
import { ago, date, iso, num, whole } from '../state/figures.js';
import { spelled } from '../state/keyboard.js';
import { titleOf } from '../state/conversations.js';
import { roleName } from '../state/message.js';
import { t } from '../state/words.js';

const Seq = ({ seq, compacted }) => html`<span class=${'seq' + (compacted ? ' compacted' : '')}>#${num(seq)}</span>`;

export const stateOf = (h) => (!h.on_path ? 'branch' : h.ref ? 'compacted' : 'live');

function Hit({ row: { h, title } }) {
  const state = stateOf(h);
  return html`<span class="where"><b>${title}</b><${Seq} seq=${h.seq} compacted=${state === 'compacted'} /><span class="role">${roleName(h.role)}</span>
      ${state === 'compacted' && html`<em class="compacted">${t('isCompacted')}</em>`}${state === 'live' && html`<em class="live">${t('palette.live')}</em>`}
      ${state === 'branch' && html`<em class="branch">${t('otherBranch')}</em>`}
      ${h.inside && html`<em class="compacted">${t('palette.inside')}</em>`}${h.pinned && html`<em class="pin">${t('palette.pin')}</em>`}
      ${h.origin && html`<span class="about">${h.origin.tool}</span>`}<time datetime=${iso(h.created_at)} title=${whole(h.created_at)}>${date(h.created_at)}</time></span>
    <span class="snippet"><${Marked} text=${h.snippet} spans=${h.spans} /></span>`;
}

const Line = ({ row: { m } }) => html`<span class="where">${m.seq ? html`<${Seq} seq=${m.seq} compacted=${Boolean(m.ref)} />` : html`<b>${m.ref}</b>`}<span class="role">${t('line', m.line)}</span>
    ${m.ref && html`<em class="compacted">${t('isCompacted')}</em>`}</span>
  <code class="snippet">${m.content.slice(0, 400)}</code>`;

const Conversation = ({ row: { c } }) => html`${icon('lines')}<b class="name">${titleOf(c)}</b><span class="about">${ago(c.updated_at)} · ${num(c.messages)}${c.project ? ` · ${c.project}` : ''}</span>`;

const Command = ({ row: { c, label } }) => html`${icon(c.icon || 'chevron')}<b class="name">${label}</b>${c.key && html`<kbd>${spelled(c.key)}</kbd>`}`;

const kinds = { hit: Hit, line: Line, conversation: Conversation, command: Command };

export function Row({ row }) {
  const Kind = kinds[row.kind];
  return html`<${Kind} row=${row} />`;
}
