// The backups of the whole store, for its admins: which there are, one that is made or read now, and how that went.
import { signal } from '../vendor/signals-core.mjs';
import { api } from './api.js';

export const standing = signal(null); // null until it is read
export const wrong = signal(''); // why it cannot be shown, or made
export const unset = signal(false); // no place for backups is set up
export const made = signal(null); // the one that was made just now
export const seen = signal({}); // what verifying came to, by name: {contents} or {wrong}
export const running = signal(''); // 'create', or the name of the one that is read; from here, or as the server says

// again is how soon a backup that somebody else began is looked at once more.
const again = 2000;
let looking = 0;

export async function refresh() {
  clearTimeout(looking);
  try {
    const got = await api.listBackups();
    standing.value = got;
    unset.value = false;
    wrong.value = '';
    if (got.running && !running.value) looking = setTimeout(refresh, again);
  } catch (err) {
    unset.value = err.status === 404;
    wrong.value = err.status === 404 ? '' : err.message || String(err);
  }
}

// leave ends looking again.
export const leave = () => clearTimeout(looking);

export async function create() {
  wrong.value = '';
  made.value = null;
  running.value = 'create';
  let failed = '';
  try {
    made.value = await api.createBackup();
  } catch (err) {
    failed = err.message || String(err);
  }
  running.value = '';
  await refresh();
  if (failed) wrong.value = failed;
}

export async function verify(name) {
  const tell = (x) => { seen.value = { ...seen.value, [name]: x }; };
  running.value = name;
  tell(undefined);
  try {
    tell({ contents: await api.verifyBackup(name) });
  } catch (err) {
    tell({ wrong: err.message || String(err) });
  }
  running.value = '';
}
