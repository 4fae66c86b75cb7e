// The forms in which a conversation leaves.
import { convo, query } from './api.js';
import { t } from './words.js';

export const forms = [
  { key: 'bundle', format: '' },
  { key: 'whole', format: '', materialize: true },
  { key: 'jsonl', format: 'jsonl' },
  { key: 'gemini-cli', format: 'gemini-cli' },
  { key: 'claude-code', format: 'claude-code' },
  { key: 'codex', format: 'codex' },
  { key: 'mtm', format: 'mtm' },
  { key: 'ipynb', format: 'ipynb' },
];

export const href = (id, form) => convo(id, '/export' + query({ format: form.format, materialize: form.materialize }));
export const nameOf = (form) => t(`side.export.${form.key}`);
export const about = (form) => t(`side.export.${form.key}.about`);
