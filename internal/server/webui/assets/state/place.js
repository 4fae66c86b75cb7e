// The place that is shown, as the address names it: #<conversation>/<seq>, with /<branch> where the
// message is one of several versions, or #:<view>/<part> for what is beside the conversations. Everything that moves goes through it.
import { signal } from '../vendor/signals-core.mjs';

const views = ['usage', 'settings', 'projects', 'trash'];

export const place = signal({ view: 'chat', id: null, seq: 0, branch: null, part: null });

export function parse(hash) {
  const [head, ...rest] = hash.replace(/^#/, '').split('/');
  const view = head.startsWith(':') ? head.slice(1) : 'chat';
  if (view !== 'chat' && views.includes(view)) {
    let part = null;
    try { part = decodeURIComponent(rest.join('/')) || null; } catch { /* not an address of ours */ }
    return { view, id: null, seq: 0, part };
  }
  return { view: 'chat', id: (view === 'chat' && head) || null, seq: Number(rest[0]) || 0, branch: (Number(rest[0]) && rest[1]) || null, part: null };
}

export const href = (id, seq, branch) => (id ? `#${id}${seq ? '/' + seq : ''}${seq && branch ? '/' + branch : ''}` : '#');
export const viewHref = (view, part) => `#:${view}${part ? '/' + encodeURIComponent(part) : ''}`;
export const address = (p) => (p.view && p.view !== 'chat' ? viewHref(p.view, p.part) : href(p.id, p.seq, p.branch));
export const same = (a, b) => address(a) === address(b);

// go moves to a conversation; going to where one is already moves there again.
export function go(id, seq) { place.value = { view: 'chat', id: id || null, seq: seq || 0, part: null }; }

// show moves to what is beside the conversations.
export function show(view, part) { place.value = { view, id: null, seq: 0, part: part || null }; }

// arrive names a place without going there: the conversation is open already.
export function arrive(id) { place.value = { view: 'chat', id, seq: 0, part: null, arrived: true }; }
