// What is attached to the message that is being written: images and other files, uploaded as
// they are added.
import { signal } from '../vendor/signals-core.mjs';
import { query, upload } from './api.js';
import { bytes } from './figures.js';
import { t } from './words.js';

const shown = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']); // that models are shown

const all = signal({}); // by conversation: {key, name, size, part, fault, note}; without part and fault it is on its way

export const attached = (id) => all.value[id] || [];
export const uploading = (id) => attached(id).some((a) => !a.part && !a.fault);
export const ready = (id) => attached(id).filter((a) => a.part).map((a) => a.part);

let keys = 0;
const requests = new Map(); // by key, while it is on its way

const hold = (id, list) => { all.value = { ...all.value, [id]: list }; };
const mark = (id, key, fields) => hold(id, attached(id).map((a) => (a.key === key ? { ...a, ...fields } : a)));

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
    const art = await upload('/api/artifacts' + query({ conversation: id, name: item.name }), file, request.signal);
    const image = shown.has(art.media_type);
    mark(id, item.key, { size: art.size, note: !image && /^image\//.test(file.type || '') ? t('notShown') : '',
      part: { type: image ? 'image' : 'file', artifact: art.id, name: item.name } });
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

// of is what a message has attached, as if it had just been added.
export const of = (parts) => parts.map((p) => ({ key: ++keys, name: p.name, size: p.size,
  part: { type: p.type, artifact: p.artifact, url: p.url, name: p.name, detail: p.detail } }));
