// The door: what the page shows until it has a key.
import { html, useEffect, useRef } from './html.js';
import { Logo } from './sidebar.js';
import { fault, signIn, trying } from '../state/session.js';
import { lang, setLang, t } from '../state/words.js';

export function SignIn() {
  const input = useRef(null);
  useEffect(() => { input.current.focus(); }, []);
  const submit = async (e) => {
    e.preventDefault();
    if (!await signIn(input.current.value) && input.current) input.current.select();
  };
  return html`<main class="door"><form onSubmit=${submit}>
    <h1><${Logo} />scrollback</h1>
    <p>${t('signInHint')}</p>
    <label><span>${t('key')}</span><input ref=${input} type="password" autocomplete="current-password" required spellcheck="false" aria-invalid=${fault.value ? 'true' : 'false'}
      aria-describedby="door-fault" /></label>
    <p id="door-fault" class="why" role="alert">${fault.value}</p>
    <button type="submit" class="plain strong" disabled=${trying.value}>${t('signIn')}</button>
    <button type="button" class="link" lang=${lang.value === 'zh' ? 'en' : 'zh-CN'} onClick=${() => setLang(lang.value === 'zh' ? 'en' : 'zh')}>${t('language')}</button>
  </form></main>`;
}
