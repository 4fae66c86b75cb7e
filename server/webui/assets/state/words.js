// What the page says, in English and Chinese.
import { signal } from '../vendor/signals-core.mjs';
import * as memory from './memory.js';
import { en } from './words.en.js';
import { zh } from './words.zh.js';

const tables = { en, zh };

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

// t says a word; further arguments fill it in.
export function t(key, ...args) {
  const word = tables[lang.value][key] ?? en[key] ?? key;
  return typeof word === 'function' ? word(...args) : word;
}
