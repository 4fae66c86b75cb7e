// What the parts of an item of a request are, as pieces of raw text: where a text was cut to its
// ends, what a pattern matches in it, and how much of it is shown at first.
import { bytes } from './figures.js';
import { t } from './words.js';

const gap = /\n\[… \S+ left out here\. The whole is (artifact:[0-9a-f]+)[\s\S]*?\]\n/;

// ends takes a text apart that was cut: its head, the line that says so, and its tail.
export function ends(text) {
  const m = gap.exec(text);
  return m ? { head: text.slice(0, m.index), note: m[0].trim(), tail: text.slice(m.index + m[0].length) } : { head: text, note: '', tail: '' };
}

const written = (json) => (typeof json === 'string' ? json : JSON.stringify(json));

// pieces are the parts of an item as they are read: {text} or a {name} of what has none. raw is
// what only machines write and read.
export function pieces(parts) {
  return (parts || []).flatMap((p) => {
    switch (p.type) {
      case 'text': return [{ text: p.text, cut: p.cut || null }];
      case 'tool_call': return [{ text: `${p.name} ${written(p.arguments)}`, raw: true, call: true }];
      case 'tool_result': return [{ text: p.text || '', raw: true, cut: p.cut || null, recall: p.recall }];
      case 'reasoning': return p.text ? [{ text: p.text, raw: true, thought: true }] : [];
      case 'image': return [{ name: [p.name || t('image'), p.width && `${p.width}×${p.height}`].filter(Boolean).join(' · '), image: true }];
      case 'file': return [{ name: [p.name || t('file'), p.size && bytes(p.size)].filter(Boolean).join(' · ') }];
      default: return [];
    }
  });
}

// plain is all that a message says, on one text.
export const plain = (parts) => pieces(parts).map((p) => p.text ?? p.name).join('\n');

// about is what is special about a message, for the line behind who said it.
export function about(item) {
  const all = pieces(item.parts);
  const out = [];
  if (item.kind === 'repair') return t('model.repair');
  if (all.some((p) => p.cut)) out.push(t('model.cutToEnds'));
  if (all.some((p) => p.recall)) out.push(t('model.lookedUp'));
  const calls = all.filter((p) => p.call).length;
  if (calls) out.push(t('model.calls', calls));
  const files = all.filter((p) => p.name !== undefined).length;
  if (files) out.push(t('model.attached', files));
  return out.join(' · ');
}

// finder is a pattern as this browser matches it; null for one that it cannot read.
export function finder(pattern, strict = false) {
  if (!pattern) return null;
  try { return new RegExp(pattern, strict ? 'gu' : 'giu'); } catch { return null; }
}

// found cuts a text into {mark, text} by what a pattern matches.
export function found(text, re) {
  if (!re) return [{ mark: false, text }];
  const out = [];
  let at = 0;
  for (const m of text.matchAll(re)) {
    if (m[0] === '') continue;
    out.push({ mark: false, text: text.slice(at, m.index) }, { mark: true, text: m[0] });
    at = m.index + m[0].length;
  }
  out.push({ mark: false, text: text.slice(at) });
  return out.filter((x) => x.text !== '');
}

const shortest = 420; // characters of a message in a list of originals

// short is the passage of a text that is shown in a list: its beginning, or what is around the
// first match; cut says that there is more.
export function short(text, re) {
  const chars = Array.from(text);
  if (chars.length <= shortest * 1.25) return { text, cut: false };
  const first = re ? text.search(new RegExp(re.source, re.flags.replace('g', ''))) : 0;
  const before = first > 0 ? Array.from(text.slice(0, first)).length : 0;
  const from = Math.max(0, Math.min(before - shortest / 3, chars.length - shortest));
  const to = Math.min(chars.length, Math.floor(from) + shortest);
  return { text: `${from > 0 ? '… ' : ''}${chars.slice(Math.floor(from), to).join('')}${to < chars.length ? ' …' : ''}`, cut: true };
}
