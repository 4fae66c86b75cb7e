// The reader of the API's description: it is fetched, and drawn.
import { Scrollback } from '../client/index.js';
import { effect, html, render } from '../view/html.js';
import * as memory from '../state/memory.js';
import * as theme from '../state/theme.js';
import * as words from '../state/words.js';
import { Docs, Trouble } from './page.js';
import { reference } from './reference.js';

try { memory.use(localStorage); } catch { /* forbidden: nothing is remembered */ }
theme.begin();
words.begin(navigator.languages);
effect(() => {
  const to = theme.theme.value;
  if (to === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = to;
});
effect(() => { document.documentElement.lang = words.lang.value === 'zh' ? 'zh-CN' : 'en'; });

const app = document.getElementById('app');
try {
  const api = await new Scrollback().openapi({ headers: { Accept: 'application/json' } });
  render(html`<${Docs} api=${reference(api, location.origin)} />`, app);
} catch (err) {
  render(html`<${Trouble} status=${err.status || 0} />`, app);
}
