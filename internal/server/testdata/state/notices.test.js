import { same, test } from './check.js';
import { attempt, banner, complain, hush, say, toast } from '/assets/state/notices.js';

test('what goes wrong is shown, once it is worth it', async () => {
  complain(null);
  complain(new DOMException('left', 'AbortError'));
  same(banner.value, null);
  complain(new TypeError('Failed to fetch'));
  same(banner.value, { text: null }, 'a server that does not respond:');
  complain(new Error('no such model'));
  same(banner.value, { text: 'no such model' });
  hush();
  same(banner.value, null);
});

test('an attempt returns what was made, or undefined and a banner', async () => {
  same(await attempt(async () => 7), 7);
  same(banner.value, null);
  same(await attempt(async () => { throw new Error('full'); }), undefined);
  same(banner.value, { text: 'full' });
});

test('a toast says what can be done about it', () => {
  let done = 0;
  say('gone', 'Undo', () => { done++; });
  toast.value.run();
  same([toast.value.text, toast.value.action, done], ['gone', 'Undo', 1]);
});
