// The server's REST API. Errors carry the server's own message.
import { lang } from './words.js';

export class ApiError extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

// door is told when the server wants a key.
export const door = { shut() {} };

export const convo = (id, rest = '') => `/api/conversations/${encodeURIComponent(id)}${rest}`;

export function query(fields) {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(fields)) if (v !== undefined && v !== null && v !== '' && v !== false) q.set(k, v);
  const s = q.toString();
  return s && '?' + s;
}

// send makes a request and returns the response once its status is good.
export async function send(method, path, { body, raw, headers, signal } = {}) {
  const init = { method, signal, credentials: 'same-origin', headers: { 'Accept-Language': lang.value, ...headers } };
  if (method !== 'GET') {
    init.headers['Content-Type'] = raw === undefined ? 'application/json' : 'application/octet-stream';
    if (raw !== undefined) init.body = raw;
    else if (method !== 'DELETE') init.body = JSON.stringify(body ?? {});
  }
  const res = await fetch(path, init);
  if (res.ok) return res;
  if (res.status === 401) door.shut();
  throw await failure(res);
}

async function failure(res) {
  let code = 'internal';
  let message = `${res.status} ${res.statusText}`;
  try {
    const { error } = await res.json();
    if (error && error.message) ({ code, message } = error);
  } catch { /* not our JSON: the status line must do */ }
  return new ApiError(res.status, code, message);
}

const json = async (...args) => (await send(...args)).json();
export const get = (path, signal) => json('GET', path, { signal });
export const post = (path, body) => json('POST', path, { body });
export const patch = (path, body, headers) => json('PATCH', path, { body, headers });
export const del = (path) => json('DELETE', path);
export const upload = (path, file, signal) => json('POST', path, { raw: file, signal });
