// Projects: what there is, and what the conversations of one inherit.
import { signal } from '../vendor/signals-core.mjs';
import { api } from './api.js';
import { attempt, hush, say } from './notices.js';
import { t } from './words.js';

export const list = signal([]);
export const open = signal(null); // the project that is shown, with what is stored of it
export const missing = signal(null); // the name of one that is not there

export async function refresh() {
  try { list.value = (await api.listProjects()).projects; } catch { /* they are listed later */ }
}

export const nameOf = (p) => p.title || p.name;

// look shows one project; one that nothing is stored of and nobody names can be made.
export async function look(name) {
  hush();
  open.value = null;
  missing.value = null;
  try {
    open.value = await api.getProject(name);
  } catch (err) {
    if (err.status !== 404) { await attempt(() => { throw err; }); return; }
    missing.value = name;
  }
}

// blank is a project of which nothing is stored.
export const blank = (name) => ({ name, title: '', instructions: '', conversations: 0, version: 0 });

const unchanged = (p) => (p.version ? { if_match: `"${p.version}"` } : {});

// save stores fields in place of all that is stored; what another has stored meanwhile is not
// overwritten. It returns whether that went well.
export async function save(p, fields) {
  hush();
  const fresh = await attempt(() => api.putProject(p.name, fields, unchanged(p)));
  if (!fresh) return false;
  open.value = fresh;
  missing.value = null;
  say(t('saved'));
  refresh();
  return true;
}

// remove forgets what is stored of a project, and touches no conversation.
export async function remove(p) {
  hush();
  const gone = await attempt(() => api.deleteProject(p.name, unchanged(p)));
  if (!gone) return false;
  say(t('set.projectGone', nameOf(p)));
  await refresh();
  return true;
}
