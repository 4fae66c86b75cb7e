// Who uses the page: whoever's key it was given, or everybody where no key is needed.
import { computed, signal } from '../vendor/signals-core.mjs';
import { ApiError, api, door } from './api.js';
import { complain } from './notices.js';

export const who = signal(null); // as /api/session describes it
export const locked = signal(false); // the server wants a key
export const fault = signal(''); // why the last key was not taken
export const trying = signal(false);

// A reader may not write; a server that says nothing about roles leaves that to its errors.
export const mayWrite = computed(() => !who.value || who.value.role !== 'read');
// cannot says why nothing can be written: the server changes nothing, or the key may only read.
export const cannot = computed(() => (mayWrite.value ? '' : who.value.read_only ? 'serverReads' : 'readOnly'));
export const admin = computed(() => Boolean(who.value && who.value.role === 'admin'));
export const named = computed(() => Boolean(who.value && who.value.key_needed && who.value.name));

door.shut = () => { locked.value = true; };

// look asks who this is, and says whether the page may be used.
export async function look() {
  try {
    const w = await api.whoami();
    who.value = w;
    locked.value = Boolean(w.key_needed && (!w.role || w.role === 'no'));
  } catch (err) {
    if (!(err instanceof ApiError && err.status === 401)) complain(err);
  }
  return !locked.value;
}

// signIn exchanges a key for a sign-in that this browser keeps; the page does not.
export async function signIn(key) {
  if (trying.value) return false;
  trying.value = true;
  fault.value = '';
  try {
    who.value = await api.signIn({ key: key.trim() });
    locked.value = false;
    return true;
  } catch (err) {
    fault.value = err.message || String(err);
    return false;
  } finally {
    trying.value = false;
  }
}

// signOut ends it, here and on the server.
export async function signOut() {
  try { await api.signOut(); } catch (err) { complain(err); return; }
  who.value = null;
  locked.value = true;
}
