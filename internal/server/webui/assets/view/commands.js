// The commands that the page itself has; areas may register others, or the same by another way.
import { convo } from '../state/api.js';
import * as receipts from '../state/receipts.js';
import { choose } from './imported.js';
import * as conversations from '../state/conversations.js';
import * as keyboard from '../state/keyboard.js';
import { forget, marks } from '../state/marks.js';
import { change } from '../state/thread.js';
import { register } from '../state/palette.js';
import { keysOpen, togglePanel, toggleSidebar } from '../state/panels.js';
import { go, show } from '../state/place.js';
import { mayWrite, named, signOut } from '../state/session.js';
import { nextTheme, theme } from '../state/theme.js';
import { conversation, toEnd } from '../state/thread.js';
import { lang, setLang, t } from '../state/words.js';

const open = () => conversation.value !== null;
// undo shows what undoing the newest compaction comes to; nothing happens before that is taken.
function undo() {
  const r = receipts.receipts.value.find(receipts.undoable);
  receipts.open(r);
  receipts.attemptOf(r, 'undo');
}

const writing = () => open() && mayWrite.value;
const settings = () => conversation.value.settings || {};

async function trash() {
  const c = conversation.value;
  if (await conversations.trash(c)) go(null);
}

const pinned = (yes) => () => writing() && Boolean(settings().pinned) !== yes;
const pin = (yes) => () => change({ settings: { ...settings(), pinned: yes } });

export const begin = () => register([
  { name: 'new', words: 'command.new', icon: 'plus', key: 'new', when: () => mayWrite.value, run: () => go(null) },
  { name: 'switch', words: 'command.switch', icon: 'eye', key: 'switch', when: open, run: () => keyboard.run('switch') },
  { name: 'compact', words: 'command.compact', icon: 'compact', when: writing, run: receipts.compactNow },
  { name: 'afresh', words: 'command.afresh', icon: 'retry', sure: 'confirmAfresh', when: writing, run: receipts.startAfresh },
  { name: 'undo', words: 'command.undo', icon: 'restore', when: () => writing() && receipts.receipts.value.some(receipts.undoable), run: undo },
  { name: 'kept', words: 'command.kept', icon: 'lines', when: open, run: () => togglePanel('kept') },
  { name: 'receipts', words: 'command.receipts', icon: 'panel', key: 'receipts', when: open, run: () => togglePanel('receipts') },
  { name: 'setup', words: 'command.setup', icon: 'tune', when: open, run: () => togglePanel('settings') },
  { name: 'latest', words: 'command.latest', icon: 'down', when: open, run: toEnd },
  { name: 'rename', words: 'command.rename', icon: 'pencil', when: writing, run: () => keyboard.run('rename') },
  { name: 'pin', words: 'command.pin', icon: 'pin', when: pinned(true), run: pin(true) },
  { name: 'unpin', words: 'command.unpin', icon: 'pin', when: pinned(false), run: pin(false) },
  { name: 'export', words: 'command.export', icon: 'export', when: open, run: () => { location.href = convo(conversation.value.id, '/export'); } },
  { name: 'trash', words: 'command.trash', icon: 'trash', when: writing, run: trash },
  { name: 'import', words: 'command.import', icon: 'import', when: () => mayWrite.value, run: choose },
  { name: 'usage', words: 'command.usage', icon: 'usage', run: () => show('usage') },
  { name: 'settings', words: 'command.settings', icon: 'tune', run: () => show('settings') },
  { name: 'projects', words: 'command.projects', icon: 'folder', run: () => show('projects') },
  { name: 'opentrash', words: 'command.openTrash', icon: 'trash', run: () => show('trash') },
  { name: 'sidebar', words: 'command.sidebar', icon: 'sidebar', key: 'sidebar', run: () => toggleSidebar() },
  { name: 'theme', words: () => t('command.theme', t(theme.value)), icon: 'half', run: nextTheme },
  { name: 'language', words: 'command.language', icon: 'web', run: () => setLang(lang.value === 'zh' ? 'en' : 'zh') },
  { name: 'marks', words: 'command.marks', icon: 'close', when: () => marks.value !== null, run: forget },
  { name: 'keys', words: 'command.keys', icon: 'key', key: 'keys', run: () => { keysOpen.value = true; } },
  { name: 'signout', words: 'command.signOut', icon: 'back', when: () => named.value, run: signOut },
]);
