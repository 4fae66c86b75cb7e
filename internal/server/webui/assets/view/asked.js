// The sheet of a question that lies over the page.
import { html } from './html.js';
import { Dialog } from './dialog.js';
import { Button } from './icons.js';
import { question } from '../state/panels.js';
import { t } from '../state/words.js';

const close = () => { question.value = null; };

export const Asked = ({ title, children, wide }) => html`<${Dialog} cls=${'ask-sheet' + (wide ? ' wide' : '')} label=${title} onClose=${close}>
  <header><h2>${title}</h2><${Button} name="close" label=${t('closeEsc')} onClick=${close} /></header><div class="within">${children}</div><//>`;
