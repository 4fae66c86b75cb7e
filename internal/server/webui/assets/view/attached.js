// Images and other files of a message: before it is sent, where each can be taken away, and
// after.
import { html, useState } from './html.js';
import { Button, icon } from './icons.js';
import { attached, remove } from '../state/attach.js';
import { inline } from '../state/draft.js';
import { bytes, num } from '../state/figures.js';
import { artifactOf } from '../state/message.js';
import { reading } from '../state/reader.js';
import { t } from '../state/words.js';

function Item({ item: a, id }) {
  const [span, setSpan] = useState('');
  const image = a.part && a.part.type === 'image' && !a.part.url; // nothing is fetched from elsewhere
  const weight = a.tokens ? ` · ${t('tokens', a.tokens)}` : '';
  const about = a.fault || a.note || (a.part ? `${span || (a.size >= 0 ? bytes(a.size) : '')}${weight}` : t('uploading'));
  const seen = (e) => setSpan(`${num(e.currentTarget.naturalWidth)} × ${num(e.currentTarget.naturalHeight)}`);
  return html`<li class=${`${image ? 'thumb' : 'slip'}${a.fault ? ' bad' : a.note ? ' warn' : ''}`} title=${a.name}>
    ${image ? html`<img src=${artifactOf(a.part, id)} alt=${a.name || t('image')} onLoad=${seen} />` : html`<i>${icon(a.fault || a.note ? 'warning' : 'page')}</i>`}
    <div><b>${a.name || (a.part && a.part.url) || t('file')}</b><span role=${a.fault ? 'alert' : null}>${about}</span></div>
    <${Button} name="close" cls="small" label=${t('removeFile', a.name || t('file'))} onClick=${() => remove(id, a.key)} /></li>
    ${a.pasted && html`<li class="why">${t('composer.whyPasted')} <button type="button" class="link" onClick=${() => inline(a)}>${t('composer.inline')}</button></li>`}`;
}

export function Attached({ id }) {
  const items = attached(id);
  return items.length > 0 && html`<ul class="attached" aria-label=${t('attachments')}>${items.map((a) => html`<${Item} key=${a.key} item=${a} id=${id} />`)}</ul>`;
}

const about = (image) => [image.width > 0 && `${image.width} × ${image.height}`, image.size > 0 && bytes(image.size)].filter(Boolean).join(' · ');

// Far is a link to an image at an address: nothing is fetched from elsewhere.
const Far = ({ image }) => /^https?:/i.test(image.url) && html`<a class="slip" href=${image.url} target="_blank" rel="noopener noreferrer">${icon('picture')}
  <b>${image.name || image.url}</b></a>`;

// Picture is an image of a message, which opens large.
export function Picture({ image, id }) {
  if (image.url) return html`<${Far} image=${image} />`;
  const name = image.name || t('image');
  return html`<button type="button" class="picture" title=${[name, about(image)].filter(Boolean).join(' · ')} onClick=${() => { reading.value = { title: name, picture: image, conversation: id }; }}>
    <img loading="lazy" src=${artifactOf(image, id)} alt=${name} width=${image.width} height=${image.height} /></button>`;
}

// Large is an image in the reader.
export const Large = ({ image, id }) => (image.url ? html`<div class="large"><${Far} image=${image} /></div>` : html`<div class="large" tabindex="0"><img src=${artifactOf(image, id)} alt=${image.name || t('image')} /></div>
  <div class="foot"><span>${about(image)}</span><a class="plain" href=${artifactOf(image, id)} download=${image.name || ''}>${t('download')}</a></div>`);

export const FileLink = ({ file, id }) => html`<a class="slip" href=${artifactOf(file, id)} download=${file.name}>${icon('page')}<b>${file.name || file.media_type}</b>
  <span>${bytes(file.size)}</span></a>`;
