// What is kept of the open conversation word for word: read while the panel shows it, and corrected there.
import { effect, signal, untracked } from '../vendor/signals-core.mjs';
import { api } from './api.js';
import { source } from './message.js';
import { attempt, complain, hush, say } from './notices.js';
import { panel } from './panels.js';
import { conversation, head, messages } from './thread.js';
import { t } from './words.js';

export const entries = signal([]);
export const kinds = ['todo', 'trait', 'instruction'];

let asked = 0;
let of = null; // the conversation that the entries are of

export async function refresh(id) {
  const mine = ++asked;
  if (id !== of) { entries.value = []; of = id; }
  if (!id) return;
  try {
    const got = await api.listKept(id);
    if (mine === asked) entries.value = got.kept || [];
  } catch (err) {
    if (mine === asked) complain(err);
  }
}

// follow reads the list again whenever the conversation changes while the panel is open.
export const follow = () => effect(() => {
  const c = conversation.value;
  if (panel.value !== 'kept' || !c) return;
  void [c.version, head.value];
  untracked(() => refresh(c.id));
});

const at = (k) => [k.conversation_id, k.id];

async function change(k, what, done) {
  hush();
  const got = await attempt(what);
  if (!got) return false;
  if (done) say(done, t('undo'), () => change(k, () => api.patchKept(...at(k), { state: 'open' })));
  await refresh(k.conversation_id);
  return true;
}

export const drop = (k) => change(k, () => api.dropKept(...at(k)), t('carried.dropped'));
export const tick = (k) => change(k, () => api.patchKept(...at(k), { state: 'done' }), t('carried.ticked'));

// findWritten finds what is selected in the source of its message: there marks of Markdown may stand between the words. What is
// not found is answered as it is, and then the server says so.
export function findWritten(source, selected) {
  const text = selected.replace(/\s+/g, ' ').trim();
  if (source.replace(/\s+/g, ' ').includes(text)) return text;
  const letters = text.replace(/[\s*_`~\\]/g, '').split('').map((c) => c.replace(/[$.+?(){}[\]|^/]/, '\\$&'));
  const found = letters.length > 0 && source.match(new RegExp('[*_`~]*' + letters.join('[\\s*_`~\\\\]*') + '[*_`~]*'));
  return found ? found[0].replace(/\s+/g, ' ') : text;
}

// keep keeps a sentence of message seq.
export function keep(id, seq, text) {
  const m = messages.value.find((x) => x.seq === seq);
  return change({ conversation_id: id }, () => api.keep(id, { seq, text: findWritten(m ? source(m) : '', text) }));
}
