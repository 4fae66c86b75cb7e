import { conversation, same, serve, test } from './check.js';
import { toolOf } from '/assets/state/conversations.js';
import { about, forms, href, nameOf } from '/assets/state/exports.js';
import { learnLimits } from '/assets/state/offered.js';

test('a bundle can be had before the server has said what else', () => {
  same(forms().map((f) => href('a/b', f)), ['/api/conversations/a%2Fb/export', '/api/conversations/a%2Fb/export?materialize=true']);
});

test('each format of the server has an address, and a name where the page has no words', async () => {
  serve({ 'GET /api/limits': { exports: ['bundle', 'jsonl', 'new-tool'], tools: ['new-tool', 'claude-code'] } });
  await learnLimits();
  same(forms().slice(2).map((f) => href('a/b', f)), ['/api/conversations/a%2Fb/export?format=jsonl', '/api/conversations/a%2Fb/export?format=new-tool']);
  same(forms().map(nameOf).slice(2), ['JSON Lines', 'new-tool']);
  same(forms().map(about).slice(2), ['One message a line, for programs.', '']);
});

test('a conversation knows the tool that it comes from, also one that the page has never heard of', () => {
  same(['new_tool', 'claude_code', 'sample'].map((key) => toolOf(conversation('c', { meta: { [key]: {} } }))), ['new-tool', 'claude-code', '']);
  same(toolOf(conversation('c')), '');
});
