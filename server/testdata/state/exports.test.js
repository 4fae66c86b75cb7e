import { same, test } from './check.js';
import { about, forms, href, nameOf } from '/assets/state/exports.js';

test('each form has an address, a name and a line about it', () => {
  same(forms.map((f) => href('a/b', f)), ['/api/conversations/a%2Fb/export', '/api/conversations/a%2Fb/export?materialize=true', '/api/conversations/a%2Fb/export?format=jsonl',
    '/api/conversations/a%2Fb/export?format=gemini-cli', '/api/conversations/a%2Fb/export?format=claude-code', '/api/conversations/a%2Fb/export?format=codex',
    '/api/conversations/a%2Fb/export?format=mtm', '/api/conversations/a%2Fb/export?format=ipynb']);
  same(forms.flatMap((f) => [nameOf(f), about(f)]).filter((x) => !x || x.startsWith('side.')), []);
});
