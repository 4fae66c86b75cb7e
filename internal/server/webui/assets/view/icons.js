// The few icons of the page, drawn with one stroke.
import { html } from './html.js';

const paths = {
  plus: 'M12 5v14M5 12h14', search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM20 20l-4-4', close: 'M6 6l12 12M18 6L6 18',
  menu: 'M4 7h16M4 12h16M4 17h16', pencil: 'M4 20l1-4L16.5 4.5a2.1 2.1 0 0 1 3 3L8 19l-4 1z', trash: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13M10 11v5M14 11v5',
  send: 'M12 19V5M6 11l6-6 6 6', stop: 'M7 7h10v10H7z', down: 'M12 5v14M6 13l6 6 6-6', up: 'M12 19V5M6 11l6-6 6 6',
  map: 'M4 6h16M4 12h10M4 18h6', import: 'M12 4v11M7 11l5 5 5-5M5 20h14', export: 'M12 16V5M7 9l5-5 5 5M5 20h14',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6L19 19M5 19l1.4-1.4M17.6 6.4L19 5',
  moon: 'M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z', half: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 3v18', back: 'M19 12H5M11 6l-6 6 6 6',
  web: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM3 12h18M12 3c3 3 3.6 6 3.6 9s-.6 6-3.6 9c-3-3-3.6-6-3.6-9s.6-6 3.6-9z',
  attach: 'M20 11.5l-8 8a5 5 0 0 1-7-7l8.5-8.5a3.4 3.4 0 0 1 4.8 4.8L10 17a1.7 1.7 0 0 1-2.4-2.4l7.4-7.4',
  page: 'M6 3h8l4 4v14H6zM14 3v4h4', folder: 'M3 6h6l2 2h10v11H3z', picture: 'M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15.5 9h.01', warning: 'M12 4l9 16H3zM12 10v4M12 17h.01',
  person: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM5 20c0-4 3-6 7-6s7 2 7 6', eye: 'M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z', panel: 'M4 5h16v14H4zM15 5v14',
  sidebar: 'M4 5h16v14H4zM9 5v14', more: 'M5 12h.01M12 12h.01M19 12h.01', usage: 'M5 20V11M12 20V4M19 20v-6M3 20h18', tune: 'M4 7h10M18 7h2M16 5v4M4 17h2M10 17h10M8 15v4', retry: 'M19 12a7 7 0 1 1-2-5l2 2M19 4v5h-5',
  code: 'M8 7l-5 5 5 5M16 7l5 5-5 5', check: 'M5 12l5 5 9-10', caret: 'M7 10l5 5 5-5', tool: 'M14.5 6a4 4 0 0 0-5 5L4 16.5 7.5 20l5.5-5.5a4 4 0 0 0 5-5L15.5 12 12 8.5z', lines: 'M4 7h16M4 12h16M4 17h9', key: 'M8 11a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM11 12l8-8M16 7l3 3', book: 'M4 5h7a1 1 0 0 1 1 1v14a2 2 0 0 0-2-1.5H4zM20 5h-7a1 1 0 0 0-1 1v14a2 2 0 0 1 2-1.5h6z', think: 'M12 3l1.8 6.2L20 11l-6.2 1.8L12 19l-1.8-6.2L4 11l6.2-1.8z', archive: 'M4 5h16v4H4zM6 9v10h12V9M10 13h4',
  keyboard: 'M3 7h18v11H3zM7 10.5h.01M11 10.5h.01M15 10.5h.01M18 10.5h.01M8 14.5h8',
  agent: 'M7 4v8a4 4 0 0 0 4 4h6M14 13l3 3-3 3',
  filter: 'M4 6h16M7 12h10M10 18h4',
  pin: 'M9 4h6l-1 6 3 3H7l3-3-1-6zM12 13v7',
  fork: 'M7 4v16M7 9c0 5 10 3 10 8v3M4 7l3-3 3 3M14 17l3 3 3-3',
  restore: 'M4 9h11a5 5 0 0 1 0 10H8M4 9l4-4M4 9l4 4', chevron: 'M9 6l6 6-6 6', copy: 'M9 9h10v11H9zM5 15V4h10', compact: 'M5 4h14M5 20h14M12 7v3M12 17v-3M9 9l3 3 3-3M9 15l3-3 3 3',
};

export const icon = (name) => html`<svg class="icon" viewBox="0 0 24 24" width="18" height="18" aria-hidden="true" fill="none"
  stroke="currentColor" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round"><path d=${paths[name]} /></svg>`;

// Button is an icon that can be pressed; its label is read aloud and shown on hover.
export const Button = ({ name, label, onClick, pressed, cls = '', ...rest }) => html`<button type="button" class=${'ghost ' + cls}
  aria-label=${label} title=${label} aria-pressed=${pressed} onClick=${onClick} ...${rest}>${icon(name)}</button>`;
