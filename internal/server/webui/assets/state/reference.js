// What a message refers to: its marks name files, folders, images and look-ups, and what was
// read for them is stored with it, behind what was typed.
import { api } from './api.js';
import { bytes } from './figures.js';
import { attempt } from './notices.js';
import { read, reading } from './reader.js';
import { zh } from './reference.zh.js';
import { lang, t } from './words.js';

// typed is what a person wrote, without what was read for it.
export const typed = (parts) => parts.filter((p) => p.type === 'text' && !p.reference).map((p) => p.text).join('\n');

// referred are the parts that were read for marks.
export const referred = (parts) => parts.filter((p) => p.type === 'text' && p.reference);

// imageOf and fileOf are the image that a part speaks of, and the file that has all of it
// where it is long.
function imageOf(parts, p) {
  const next = parts[parts.indexOf(p) + 1];
  return p.reference.kind === 'image' && next && next.type === 'image' ? next : null;
}

const fileOf = (parts, p) => parts.find((f) => f.type === 'file' && p.text.includes(f.artifact)) || null;

// places are where a mark for an image stands in a text, as [from, to]. A data URL stands
// shortened in the mark, up to its comma.
function places(text, mark) {
  const long = mark.indexOf(',…');
  const begins = long < 0 ? mark : mark.slice(0, long + 1);
  const out = [];
  for (let from = text.indexOf(begins); from >= 0 && begins.startsWith('!['); from = text.indexOf(begins, from + begins.length)) {
    const to = long < 0 ? from + mark.length : text.indexOf(')', from) + 1;
    if (to > from) out.push([from, to]);
  }
  return out;
}

// pictured tells apart what stands in a message besides its text: what was attached, the
// images that stand in the place of their marks ({from, to, image} in what was typed), and
// those that marks name without showing them.
export function pictured(parts) {
  const text = typed(parts);
  const marks = [];
  const named = [];
  const known = new Set();
  for (const p of referred(parts)) {
    const image = imageOf(parts, p);
    known.add(image).add(fileOf(parts, p));
    const at = p.reference.kind === 'image' ? places(text, p.reference.mark) : [];
    if (image && !at.length) named.push(image);
    for (const [from, to] of at) if (image || p.reference.mark.includes(',…')) marks.push({ from, to, image, mark: p.reference.mark });
  }
  marks.sort((a, b) => a.from - b.from);
  return { attached: parts.filter((p) => (p.type === 'image' || p.type === 'file') && !known.has(p)), named, marks };
}

// withPictures cuts a typed text into {text} and {image}, where marks stand for images.
export function withPictures(text, marks) {
  const out = [];
  let at = 0;
  const say = (s) => {
    const last = out[out.length - 1];
    if (last && last.text !== undefined) last.text += s;
    else out.push({ text: last ? s.replace(/^[ \t]+/, '') : s });
  };
  for (const m of marks) {
    if (m.from < at) continue;
    say(text.slice(at, m.from));
    if (m.image) out.push({ image: m.image });
    else say(m.mark);
    at = m.to;
  }
  say(text.slice(at));
  return out.filter((x) => x.image || x.text.trim());
}

// chipped are the parts that have a chip: all but images that are seen in their places.
export const chipped = (parts, marks) => referred(parts).filter((p) => {
  const r = p.reference;
  return r.error || r.note || !marks.some((m) => m.image && m.image === imageOf(parts, p));
});

const kinds = { folder: 'folder', image: 'picture', tool: 'search' };

// iconOf is the icon of a reference's kind.
export const iconOf = (r) => (r.error ? 'warning' : kinds[r.kind] || 'page');

// told is a sentence of the server in the page's language; one that is new here stays as it is.
function told(sentence) {
  if (lang.value !== 'zh') return sentence;
  for (const [like, say] of zh) {
    const m = like.exec(sentence);
    if (m) return say(...m.slice(1).map((x) => (x === undefined ? x : told(x))));
  }
  return sentence;
}

// facts are what a chip says beside the source.
export const facts = (r) => [r.version > 0 && t('version', r.version), r.same_as > 0 && t('unchanged'),
  r.note && r.note.split('; ').map(told).join(lang.value === 'zh' ? '；' : '; ')].filter(Boolean);

export const sizeOf = (r) => (r.bytes > 0 ? bytes(r.bytes) : '');

// troubleOf says why there is nothing behind a mark.
export const troubleOf = (r) => told(r.error);

const block = /^\[[^\n]*\]\n(`{3,})[^\n]*\n([\s\S]*?)\n?\1$/;

// content is what was read, without the line above it and its fences.
const content = (text) => { const m = block.exec(text); return m ? m[2] : text; };

// open shows what was read for a part of a message's parts; where that only says that nothing
// changed, what the message has that it names.
export async function open(conversation, part, parts) {
  const r = part.reference;
  const title = `${r.source || r.mark}${r.version ? ` · ${t('version', r.version)}` : ''}`;
  let at = { part, parts };
  if (r.same_as) {
    const got = await attempt(() => api.listMessages(conversation, { after: r.same_as - 1, limit: 1 }));
    if (!got) return;
    const those = got.messages.flatMap((m) => m.parts);
    const first = referred(those).find((p) => p.reference.source === r.source && p.reference.version === r.version);
    if (first) at = { part: first, parts: those };
  }
  const image = imageOf(at.parts, at.part);
  const file = fileOf(at.parts, at.part);
  if (image) reading.value = { title, picture: image, conversation };
  else if (file) read(conversation, `artifact:${file.artifact}`, title);
  else reading.value = { bare: true, title, text: content(at.part.text) };
}
