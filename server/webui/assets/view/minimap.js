// The shape of the whole log, beside the scroll.
import { html } from './html.js';

export const Minimap = () => html`<div class="minimap"></div>`;
