// The reader: an original behind a ref, verbatim, page by page; or a text that is at hand.
import { html, useEffect, useLayoutEffect, useRef, useState } from './html.js';
import { Large } from './attached.js';
import { Dialog } from './dialog.js';
import { Button } from './icons.js';
import { Copy } from './text.js';
import { bytes } from '../state/figures.js';
import { complain } from '../state/notices.js';
import { atLine, close, more, none, reading } from '../state/reader.js';
import { t } from '../state/words.js';

function Content({ text, line }) {
  const at = useRef(null);
  const cut = line ? atLine(text, line) : null;
  const found = cut !== null;
  useLayoutEffect(() => { if (found && at.current) at.current.scrollIntoView({ block: 'center' }); }, [found]);
  return html`<pre class="original" tabindex="0">${cut ? html`${cut[0]}<mark ref=${at}>${cut[1]}</mark>${cut[2]}` : text}</pre>`;
}

function Paged({ conversation, ref_: ref, line }) {
  const [got, setGot] = useState(none);
  const [busy, setBusy] = useState(false);
  const gone = useRef(false);

  const next = async () => {
    setBusy(true);
    try {
      const to = await more(got, { conversation, ref, line }, () => gone.current);
      if (to) { setGot(to); setBusy(false); }
    } catch (err) {
      if (!gone.current) { complain(err); close(); }
    }
  };
  useEffect(() => { next(); return () => { gone.current = true; }; }, []);

  return html`<${Content} text=${got.text} line=${line} />
    <div class="foot"><span>${!got.asked ? t('loading') : got.done ? t('readerDone', bytes(got.bytes)) : t('readerSome', bytes(got.next), bytes(got.bytes))}</span>
    ${got.asked && !got.done && html`<button type="button" class="plain" disabled=${busy} onClick=${next}>${t('loadMore')}</button>`}
    ${got.done && html`<${Copy} text=${got.text} />`}</div>`;
}

export function Reader() {
  const r = reading.value;
  if (!r) return null;
  return html`<${Dialog} key=${r.ref || r.title} cls="reader" label=${t('reader')} onClose=${close}>
    <div class="top"><div><h2>${r.picture || r.bare ? '' : `${t('reader')} `}${r.title}${r.line ? ` · ${t('line', r.line)}` : ''}</h2>${r.ref && html`<code class="ref">${r.ref}</code>`}</div>
      <${Button} name="close" label=${t('close')} onClick=${close} /></div>
    ${r.picture ? html`<${Large} image=${r.picture} id=${r.conversation} />`
      : r.ref ? html`<${Paged} conversation=${r.conversation} ref_=${r.ref} line=${r.line} />` : html`<${Content} text=${r.text} /><div class="foot"><span /><${Copy} text=${r.text} /></div>`}
  <//>`;
}
