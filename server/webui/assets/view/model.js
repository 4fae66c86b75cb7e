// The request, as the model sees it.
import { html } from './html.js';

export const Model = () => html`<div class="scroll model" tabindex="-1"></div>`;
