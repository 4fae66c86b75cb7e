import { same, test } from './check.js';
import { dim, light, lit } from '/assets/state/lit.js';
import { forget, marks } from '/assets/state/marks.js';
import { blink, keep, look, sees, turn } from '/assets/state/sees.js';

test('the eyes change and come back, and keep their place', () => {
  look('model', { turn: 't', seq: 7 });
  same([sees.value, turn.value, keep.value], ['model', 't', 7]);
  blink(9);
  same([sees.value, turn.value, keep.value], ['you', null, 9]);
  blink();
  same([sees.value, turn.value], ['model', null]);
});

test('what is pointed at is lit until something else is', () => {
  light(3);
  light(4);
  dim(3);
  same(lit.value, 4);
  dim(4);
  same(lit.value, 0);
});

test('marks are forgotten', () => {
  marks.value = { conversation: 'c', words: ['a'], seqs: [1] };
  forget();
  same(marks.value, null);
});
