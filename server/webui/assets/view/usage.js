// What was used, by day, model and project.
import { html } from './html.js';
import { Menu } from './header.js';
import { t } from '../state/words.js';

export const Usage = () => html`<header class="head"><div class="left"><${Menu} /><h1>${t('usage.title')}</h1></div></header>`;
