import { same, test } from './check.js';
import { blocks, inline, marked } from '/assets/state/text.js';

test('fenced code is cut from prose', () => {
  same(blocks('a\n```go\nx := 1\n```\nb'), [{ code: false, text: 'a', language: '' }, { code: true, text: 'x := 1', language: 'go' },
    { code: false, text: 'b', language: '' }]);
  same(blocks('````\n```\n````'), [{ code: true, text: '```', language: '' }], 'a longer fence:');
  same(blocks('~~~\n```\n~~~').length, 1);
  same(blocks('```js title=x\nopen'), [{ code: true, text: 'open', language: 'js' }], 'a fence that is still open:');
  same(blocks('```a`b```'), [{ code: false, text: '```a`b```', language: '' }], 'code in a line:');
  same(blocks(''), []);
});

test('code among prose', () => {
  same(inline('a `b` c ``d`e``'), [{ code: false, text: 'a ' }, { code: true, text: 'b' }, { code: false, text: ' c ' },
    { code: true, text: 'd`e' }, { code: false, text: '' }]);
  same(inline('a ` b\nc ` d'), [{ code: false, text: 'a ` b\nc ` d' }], 'a backquote across lines:');
});

test('marks count characters, and do not overlap', () => {
  same(marked('🐋ab鲸', [[1, 2], [0, 1], [3, 4]]), [{ mark: false, text: '🐋' }, { mark: true, text: 'a' }, { mark: false, text: 'b' },
    { mark: true, text: '鲸' }, { mark: false, text: '' }]);
  same(marked('ab', null), [{ mark: false, text: 'ab' }]);
});
