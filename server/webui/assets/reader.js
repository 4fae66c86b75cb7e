// The reader: an original behind a ref, verbatim, page by page; or a text that is at hand.
import { html, useEffect, useLayoutEffect, useRef, useState } from './html.js';
import { convo, get, query } from './api.js';
import { Dialog } from './dialog.js';
import { Button } from './icons.js';
import { Copy } from './text.js';
import { complain, reading } from './ui.js';
import { bytes, t } from './words.js';

const PAGE = 32 << 10; // bytes
const SEEK = 64; // pages that are read at most to reach a line

const close = () => { reading.value = null; };
const lines = (s) => s.split('\n').length - 1;

// atLine cuts a text into what is before a line, the line, and what is after.
function atLine(text, n) {
  let from = 0;
  for (let i = 1; i < n; i++) {
    const next = text.indexOf('\n', from);
    if (next < 0) return null;
    from = next + 1;
  }
  const to = text.indexOf('\n', from);
  return to < 0 ? [text.slice(0, from), text.slice(from), ''] : [text.slice(0, from), text.slice(from, to), text.slice(to)];
}

function Content({ text, line }) {
  const at = useRef(null);
  const cut = line ? atLine(text, line) : null;
  const found = cut !== null;
  useLayoutEffect(() => { if (found && at.current) at.current.scrollIntoView({ block: 'center' }); }, [found]);
  return html`<pre class="original" tabindex="0">${cut ? html`${cut[0]}<mark ref=${at}>${cut[1]}</mark>${cut[2]}` : text}</pre>`;
}

function Paged({ conversation, ref_: ref, line }) {
  const [got, setGot] = useState({ text: '', next: 0, bytes: 0, done: false, asked: false });
  const [busy, setBusy] = useState(false);
  const gone = useRef(false);

  const more = async () => {
    setBusy(true);
    let at = got;
    try {
      for (let i = 0; i < SEEK; i++) {
        const p = await get(convo(conversation, '/refs/' + encodeURIComponent(ref)) + query({ offset: at.next || null, limit: PAGE }));
        if (gone.current) return;
        at = { text: at.text + p.content, next: p.next_offset, bytes: p.bytes, done: p.done, asked: true };
        if (p.done || !line || lines(at.text) >= line) break;
      }
    } catch (err) {
      if (!gone.current) { complain(err); close(); }
      return;
    }
    setGot(at);
    setBusy(false);
  };
  useEffect(() => { more(); return () => { gone.current = true; }; }, []);

  return html`<${Content} text=${got.text} line=${line} />
    <div class="foot"><span>${!got.asked ? t('loading') : got.done ? t('readerDone', bytes(got.bytes)) : t('readerSome', bytes(got.next), bytes(got.bytes))}</span>
    ${got.asked && !got.done && html`<button type="button" class="plain" disabled=${busy} onClick=${more}>${t('loadMore')}</button>`}
    ${got.done && html`<${Copy} text=${got.text} />`}</div>`;
}

export function Reader() {
  const r = reading.value;
  if (!r) return null;
  return html`<${Dialog} key=${r.ref || r.title} cls="reader" label=${t('reader')} onClose=${close}>
    <div class="top"><div><h2>${t('reader')} ${r.title}${r.line ? ` · ${t('line', r.line)}` : ''}</h2>${r.ref && html`<code class="ref">${r.ref}</code>`}</div>
      <${Button} name="close" label=${t('close')} onClick=${close} /></div>
    ${r.ref ? html`<${Paged} conversation=${r.conversation} ref_=${r.ref} line=${r.line} />` : html`<${Content} text=${r.text} /><div class="foot"><span /><${Copy} text=${r.text} /></div>`}
  <//>`;
}
