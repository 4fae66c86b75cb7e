import { same, test } from './check.js';
import { begin, fresh } from '/assets/state/fresh.js';

test('what was chosen is held, and what is empty is left to the server', () => {
  begin({ model: 'a/b', instructions: 'Be short.' });
  begin({ settings: { reasoning_effort: 'low' }, instructions: '' });
  same(fresh.value, { model: 'a/b', settings: { reasoning_effort: 'low' } });
  begin({ settings: null });
  same(fresh.value, { model: 'a/b' });
});
