// What the last search looked for, so that what it found stays marked after the jump, in the
// conversation and beside its scroll.
import { signal } from '../vendor/signals-core.mjs';

export const marks = signal(null); // {conversation, words: [text], seqs: [seq]}

export const forget = () => { marks.value = null; };

// pieces cuts a text into {mark, text}: where one of the words stands is marked, with an ending
// of up to three letters.
export function pieces(text, words) {
  const wanted = (words || []).filter(Boolean).map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).sort((a, b) => b.length - a.length);
  if (!wanted.length) return [{ mark: false, text }];
  const at = new RegExp(`(?<![\\p{Script=Latin}\\p{Script=Cyrillic}\\p{Script=Greek}\\p{N}])(?:${wanted.join('|')})(?:(?<=\\p{Script=Latin})\\p{Script=Latin}{1,3}(?!\\p{Script=Latin}))?`, 'giu');
  const out = [];
  let from = 0;
  for (const m of text.matchAll(at)) {
    if (m.index > from) out.push({ mark: false, text: text.slice(from, m.index) });
    out.push({ mark: true, text: m[0] });
    from = m.index + m[0].length;
  }
  if (from < text.length) out.push({ mark: false, text: text.slice(from) });
  return out;
}
