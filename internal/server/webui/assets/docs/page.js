// The reader: operations by group at the left, each with what it takes and sends, and an
// example beside it.
import { html, useEffect, useRef, useState } from '../view/html.js';
import { nextTheme, theme } from '../state/theme.js';
import { lang, setLang } from '../state/words.js';
import { Button, icon } from '../view/icons.js';
import { finds } from './reference.js';
import { Fields, Prose, Type } from './schema.js';
import { say } from './words.js';

export function Trouble({ status }) {
  return html`<div class="trouble-page"><p>${say(status === 401 || status === 403 ? 'signIn' : 'failed')}</p><a class="link" href="/">${say('page')}</a></div>`;
}

export function Docs({ api }) {
  const [search, setSearch] = useState('');
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState('');
  const field = useRef(null);
  const groups = api.groups.map((g) => ({ ...g, operations: g.operations.filter((o) => finds(o, search)) })).filter((g) => g.operations.length);

  useEffect(() => watch(setAt), []);
  useEffect(() => {
    const all = api.groups.flatMap((g) => g.operations.map((o) => o.id));
    const key = (e) => {
      if (e.isComposing || e.metaKey || e.ctrlKey || e.altKey) return;
      if (e.key === 'Escape') { setSearch(''); setOpen(false); document.activeElement?.blur(); return; }
      if (/^(input|textarea)$/i.test(e.target.tagName)) return;
      if (e.key === '/') { e.preventDefault(); setOpen(true); field.current.focus(); }
      const step = { j: 1, k: -1 }[e.key];
      if (step) location.hash = all[Math.max(0, Math.min(all.length - 1, all.indexOf(current()) + step))];
    };
    addEventListener('keydown', key);
    return () => removeEventListener('keydown', key);
  }, []);
  const go = (e) => {
    e.preventDefault();
    if (groups[0]) { location.hash = groups[0].operations[0].id; setOpen(false); field.current.blur(); }
  };
  return html`<div class=${`docs${open ? ' open' : ''}`}>
    <header class="bar">
      <${Button} name="menu" label=${say('contents')} aria-expanded=${open} onClick=${() => setOpen(!open)} />
      <b>scrollback API</b>
    </header>
    <div class="shade-docs" onClick=${() => setOpen(false)}></div>
    <nav class="contents" aria-label=${say('contents')}>
      <div class="top"><a class="brand" href="#">scrollback <span>API ${api.version}</span></a></div>
      <form class="filter" role="search" onSubmit=${go}>${icon('search')}<input type="search" ref=${field} value=${search} placeholder=${say('search')} aria-label=${say('search')} onInput=${(e) => setSearch(e.target.value)} /></form>
      <div class="list scroll">
        ${groups.map((g) => html`<section key=${g.name}><h2>${g.name}</h2><ul>${g.operations.map((o) => html`<li key=${o.id}>
          <a href=${'#' + o.id} aria-current=${at === o.id ? 'true' : undefined} onClick=${() => setOpen(false)}><${Method} of=${o.method} /><span>${o.summary}</span></a></li>`)}</ul></section>`)}
        ${!groups.length && html`<p class="none">${say('nothing')}</p>`}
      </div>
      <footer>
        <a class="ghost text" href="/">${say('page')}</a><span class="gap"></span>
        <button type="button" class="ghost text" lang=${lang.value === 'zh' ? 'en' : 'zh-CN'} onClick=${() => setLang(lang.value === 'zh' ? 'en' : 'zh')}>${lang.value === 'zh' ? 'English' : '中文'}</button>
        <${Button} name=${{ auto: 'half', light: 'sun', dark: 'moon' }[theme.value]} label=${say('theme')} onClick=${nextTheme} />
      </footer>
    </nav>
    <main>
      <div class="intro"><h1>scrollback API</h1><${Prose} text=${api.description} /><p class="foot"><a class="link" href="/openapi.json">${say('raw')}</a><span class="quiet keys">${say('keys')}</span></p></div>
      ${api.groups.map((g) => html`<section class="group" key=${g.name}><h2>${g.name}</h2><${Prose} text=${g.description} />
        ${g.operations.map((o) => html`<${Operation} key=${o.id} doc=${api.doc} of=${o} />`)}</section>`)}
    </main>
  </div>`;
}

// current is the operation that is read now: the last that begins above a third of the
// window.
function current() {
  const all = [...document.querySelectorAll('.operation')];
  return all.findLast((o) => o.getBoundingClientRect().top < innerHeight / 3)?.id ?? '';
}

// watch tells which operation is read, goes to the one that the address names, and keeps
// its line in the contents in sight.
function watch(tell) {
  let asked = false;
  const look = () => {
    asked = false;
    tell(current());
    document.querySelector('.contents [aria-current]')?.scrollIntoView({ block: 'nearest' });
  };
  const soon = () => { if (!asked) { asked = true; requestAnimationFrame(look); } };
  addEventListener('scroll', soon, { passive: true });
  document.getElementById(location.hash.slice(1))?.scrollIntoView();
  soon();
  return () => removeEventListener('scroll', soon);
}

const Method = ({ of }) => html`<b class=${'method ' + of.toLowerCase()}>${of === 'DELETE' ? 'DEL' : of}</b>`;

function Operation({ doc, of }) {
  return html`<article class="operation" id=${of.id} aria-labelledby=${of.id + '-name'}>
    <div class="says">
      <h3 id=${of.id + '-name'}><a href=${'#' + of.id} title=${say('link')}>${of.summary}</a></h3>
      <p class="path"><${Method} of=${of.method} /><code>${of.path.split(/(\{\w+\})/).map((p) => (p[0] === '{' ? html`<i>${p}</i>` : p))}</code></p>
      <${Prose} text=${of.description} />
      ${of.parameters.length > 0 && html`<h4>${say('parameters')}</h4><ul class="fields">${of.parameters.map((p) => html`<li key=${p.name}>
        <p class="field"><code class="name">${p.name}</code><${Type} doc=${doc} schema=${p.schema} /><small>${p.in}</small>${p.required && html`<small class="must">${say('required')}</small>`}${p.schema.default !== undefined && p.schema.default !== -1 && html`<small>${say('byDefault')} ${p.schema.default}</small>`}</p>
        <${Prose} text=${p.description} /></li>`)}</ul>`}
      ${of.body && html`<h4>${say('body')} <small>${of.body.media}</small></h4><${Fields} doc=${doc} schema=${of.body.schema} open />`}
      <h4>${say('returns')}</h4>
      ${of.returns.map((r) => html`<div class="returns" key=${r.status}><p class="field"><b class="status">${r.status}</b><${Prose} text=${r.description} /></p>
        ${Object.entries(r.content || {}).map(([media, c]) => html`<div key=${media}><p class="field"><small>${media}</small><${Type} doc=${doc} schema=${c.schema} /></p><${Fields} doc=${doc} schema=${c.schema} /></div>`)}</div>`)}
      ${of.errors.length > 0 && html`<details class="errors"><summary><h4>${say('errors')}</h4> <span class="quiet">${of.errors.map((e) => e.status).join(' ')}</span></summary>
        <ul>${of.errors.map((e) => html`<li key=${e.status}><b class="status bad">${e.status}</b><${Prose} text=${e.description} /></li>`)}</ul><p class="quiet">${say('errorsAre')}</p></details>`}
    </div>
    <div class="shows">
      <${Sample} title=${say('request')} text=${of.curl} wraps />
      ${of.body && of.body.media !== 'application/json' && of.body.example && html`<${Sample} title=${say('file')} text=${of.body.example} />`}
      ${of.example && html`<${Sample} title=${`${say('response')} ${of.example.status}`} media=${of.example.media} text=${of.example.text} />`}
    </div>
  </article>`;
}

function Sample({ title, media, text, wraps }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try { await navigator.clipboard.writeText(text); setCopied(true); setTimeout(() => setCopied(false), 1500); } catch { /* forbidden: the text can be selected */ }
  };
  return html`<figure class="sample"><figcaption><span>${title}</span>${media && html`<small>${media}</small>`}<span class="gap"></span><button type="button" class="link" onClick=${copy}>${say(copied ? 'copied' : 'copy')}</button></figcaption><pre class=${'scroll' + (wraps ? ' wraps' : '')} tabindex="0"><code>${coloured(text)}</code></pre></figure>`;
}

// coloured marks the names, texts and numbers of JSON.
function coloured(text) {
  return text.split(/("(?:[^"\\]|\\.)*"(?:\s*:)?)/).map((piece, i) => {
    if (i % 2 === 0) return piece;
    return piece.endsWith(':') ? html`<span class="k">${piece}</span>` : html`<span class="s">${piece}</span>`;
  });
}
