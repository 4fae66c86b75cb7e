import { same, test } from './check.js';
import * as selection from '/assets/state/selection.js';

const ids = ['a', 'b', 'c', 'd', 'e'];
const chosen = () => selection.chosen.value && [...selection.chosen.value].sort().join('');

test('one is chosen and let go; with Shift a whole run becomes as its beginning is', () => {
  selection.begin('b');
  same(chosen(), 'b');
  selection.toggle('d', true, ids);
  same(chosen(), 'bcd');
  selection.toggle('c', false, ids);
  same(chosen(), 'bd');
  selection.toggle('e', true, ids);
  same(chosen(), 'b', 'from one that was let go:');
  selection.drop('b');
  same(chosen(), '');
  selection.end();
  same(chosen(), null);
});

test('a run whose beginning is not listed is its end alone', () => {
  selection.begin('gone');
  selection.toggle('c', true, ids);
  same(chosen(), 'cgone');
  selection.end();
});
