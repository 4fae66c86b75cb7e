import { same, test } from './check.js';
import { down, failed, works } from '/assets/state/line.js';
import { banner, complain } from '/assets/state/notices.js';

test('no response at all is the line, a refusal is not', () => {
  failed(new Error('refused'));
  same(down.value, false);
  failed(new TypeError('network'));
  same(down.value, true);
});

test('with the line back, only the banner that said so goes', () => {
  complain(new TypeError('network'));
  works();
  same([down.value, banner.value], [false, null]);
  failed(new TypeError('network'));
  complain(new Error('something else'));
  works();
  same(banner.value, { text: 'something else' });
});
