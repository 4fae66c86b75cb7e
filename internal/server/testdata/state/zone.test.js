import { same, test } from './check.js';
import { zone } from '/assets/state/zone.js';

test('a zone is one that dates can be written in', () => {
  same(new Intl.DateTimeFormat('en', { timeZone: zone() }).resolvedOptions().timeZone, Intl.DateTimeFormat().resolvedOptions().timeZone);
});
