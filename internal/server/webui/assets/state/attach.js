// What is attached to the message that is being written: images and other files, uploaded as
// they are added, and long texts that were pasted, which are sent whole.
import { signal } from '../vendor/signals-core.mjs';
import { api } from './api.js';
import { bytes } from './figures.js';
import { t } from './words.js';
import { zone } from './zone.js';

const LONG = 4000; // characters from which a pasted text stands beside the message

// readable says that a model can read a file of this type where it is kept, as it reads any text.
const readable = (type) => /^text\/|[/+](json|xml|yaml|toml|javascript)\b/.test(type || '');

const shown = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']); // that models are shown

const all = signal({}); // by conversation: {key, name, size, part, tokens, fault, note}; without part and fault it is on its way

export const attached = (id) => all.value[id] || [];
export const uploading = (id) => attached(id).some((a) => !a.part && !a.fault);
export const ready = (id) => attached(id).filter((a) => a.part).map((a) => a.part);

let keys = 0;
const requests = new Map(); // by key, while it is on its way

const hold = (id, list) => { all.value = { ...all.value, [id]: list }; };
const mark = (id, key, fields) => hold(id, attached(id).map((a) => (a.key === key ? { ...a, ...fields } : a)));

// message is a text with what is attached to it, as it is sent.
export function message(text, items) {
  const parts = items.flatMap((a) => a.part || []);
  if (!parts.length) return text;
  return text.trim() ? [{ type: 'text', text }, ...parts] : parts;
}

export const long = (text) => text.length > LONG;

// paste puts a long text beside the message.
export function paste(id, text) {
  const item = { key: ++keys, name: t('composer.pasted'), size: new TextEncoder().encode(text).length, pasted: true, part: { type: 'text', text } };
  hold(id, [...attached(id), item]);
  return item;
}

// weigh asks what one of them weighs in the next request.
export async function weigh(id, key) {
  const item = attached(id).find((a) => a.key === key);
  if (!item || !item.part || item.tokens) return;
  try {
    const m = await api.preview(id, { message: [item.part], tz: zone() });
    if (m.draft) mark(id, key, { tokens: m.draft });
  } catch { /* it has its size */ }
}

// add uploads files for a conversation.
export async function add(id, files) {
  const fresh = Array.from(files);
  const items = fresh.map((f) => ({ key: ++keys, name: f.name || t('image'), size: f.size }));
  hold(id, [...attached(id), ...items]);
  await Promise.all(items.map((item, i) => bring(id, item, fresh[i])));
}

async function bring(id, item, file) {
  const request = new AbortController();
  requests.set(item.key, request);
  try {
    const art = await api.upload(file, { conversation: id, name: item.name, signal: request.signal });
    const image = shown.has(art.media_type);
    mark(id, item.key, { size: art.size, note: image ? '' : /^image\//.test(file.type || '') ? t('notShown') : readable(art.media_type) ? '' : t('notRead'),
      part: { type: image ? 'image' : 'file', artifact: art.id, name: item.name } });
    weigh(id, item.key);
  } catch (err) {
    if (!request.signal.aborted) mark(id, item.key, { fault: why(err) });
  } finally {
    requests.delete(item.key);
  }
}

// why says why a file was not taken.
function why(err) {
  if (err instanceof TypeError) return t('offlineNet');
  const most = err.status === 413 && /\d{4,}/.exec(err.message);
  return most ? t('tooLarge', bytes(Number(most[0]))) : err.message;
}

export function remove(id, key) {
  requests.get(key)?.abort();
  hold(id, attached(id).filter((a) => a.key !== key));
}

// empty takes all away, and returns it for put.
export function empty(id) {
  const list = attached(id);
  hold(id, []);
  return list;
}

export const put = (id, list) => hold(id, list);

// keep are those that can be remembered, as back takes them.
export const keep = (list) => list.filter((a) => a.part).map(({ key, fault, ...rest }) => rest);
export const back = (list) => (list || []).map((a) => ({ ...a, key: ++keys }));

// of is what a message has attached, as if it had just been added.
export const of = (parts) => parts.map((p) => ({ key: ++keys, name: p.name, size: p.size,
  part: { type: p.type, artifact: p.artifact, url: p.url, name: p.name, detail: p.detail } }));
