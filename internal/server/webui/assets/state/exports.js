// The forms in which a conversation leaves: a bundle, with the files of its segments or without, and
// the other formats that the server writes.
import { convo, query } from './api.js';
import { list } from './offered.js';
import { has, t } from './words.js';

const BUNDLE = 'bundle';

export const forms = () => [{ key: BUNDLE, format: '' }, { key: 'whole', format: '', materialize: true },
  ...list('exports').filter((format) => format !== BUNDLE).map((format) => ({ key: format, format }))];

export const href = (id, form) => convo(id, '/export' + query({ format: form.format, materialize: form.materialize }));
export const nameOf = (form) => (has(`side.export.${form.key}`) ? t(`side.export.${form.key}`) : form.key);
export const about = (form) => (has(`side.export.${form.key}.about`) ? t(`side.export.${form.key}.about`) : '');
