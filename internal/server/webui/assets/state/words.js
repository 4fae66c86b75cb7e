// What the page says, in English and Chinese. Each area of the page has a table of its own.
import { signal } from '../vendor/signals-core.mjs';
import * as memory from './memory.js';
import * as agents from './words/agents.js';
import * as backups from './words/backups.js';
import * as remotes from './words/remotes.js';
import * as composer from './words/composer.js';
import * as first from './words/first.js';
import * as frame from './words/frame.js';
import * as markup from './words/markup.js';
import * as model from './words/model.js';
import * as palette from './words/palette.js';
import * as settings from './words/settings.js';
import * as sidebar from './words/sidebar.js';
import * as thread from './words/thread.js';
import * as usage from './words/usage.js';
import { en } from './words.en.js';
import { zh } from './words.zh.js';

export const areas = { base: { en, zh }, agents, backups, composer, first, frame, markup, model, palette, remotes, settings, sidebar, thread, usage };

const join = (l) => Object.assign({}, ...Object.values(areas).map((a) => a[l]));
const tables = { en: join('en'), zh: join('zh') };

export const lang = signal('en');

// begin takes the language that was chosen on an earlier visit, or else the one that the
// browser prefers.
export function begin(languages) {
  const chosen = memory.get('lang');
  lang.value = Object.hasOwn(tables, chosen) ? chosen : /^zh/i.test(languages[0] || '') ? 'zh' : 'en';
}

export function setLang(l) {
  lang.value = l;
  memory.set('lang', l);
}

// has says whether there is such a word.
export const has = (key) => Object.hasOwn(tables.en, key);

// t says a word; further arguments fill it in.
export function t(key, ...args) {
  const word = tables[lang.value][key] ?? tables.en[key] ?? key;
  return typeof word === 'function' ? word(...args) : word;
}
