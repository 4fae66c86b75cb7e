// Tests that fail, so that the suite shows that it notices.
import { is, same, test } from './check.js';

test('passes', () => same([1, { a: undefined }], [1, { a: undefined }]));
test('differs', () => same({ a: 1 }, { a: 2 }));
test('is not so', () => is(false, 'no'));
test('throws later', async () => { await null; throw new Error('late'); });
