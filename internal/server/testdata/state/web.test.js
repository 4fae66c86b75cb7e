import { conversation, refusal, same, serve, test } from './check.js';
import * as thread from '/assets/state/thread.js';
import { learn } from '/assets/state/models.js';
import { available, hostOf, noted, on, sources, wanted } from '/assets/state/web.js';

test('a switch is there where the model of the conversation can search', async () => {
  same([available.value, wanted()], [false, false]);
  serve({ 'GET /api/models': { models: [{ name: 'a/x', default: true, web_search: 'searxng' }, { name: 'offline' }] } });
  await learn();
  on.value = true;
  thread.adopt(conversation('c'));
  same([available.value, wanted()], [true, true], 'the default:');
  thread.adopt(conversation('c', { model: 'offline' }));
  same([available.value, wanted()], [false, false], 'one that cannot:');
  thread.adopt(conversation('c', { model: 'a/unlisted' }));
  same(available.value, true, 'one that is not listed:');
  serve({ 'GET /api/models': refusal(403, 'no') });
  await learn();
  same(available.value, false, 'a server that does not say:');
});

test('a search takes the place of one with the same query', () => {
  const first = noted([], { query: 'a', results: [] });
  same(noted(noted(first, { query: 'b', results: [1] }), { query: 'a', results: [2] }), [{ query: 'a', results: [2] }, { query: 'b', results: [1] }]);
});

test('only addresses of the web are listed, each once', () => {
  const page = (url) => ({ title: 't', url, text: '' });
  same([hostOf('https://a.test:8/x'), hostOf('javascript:alert(1)'), hostOf('data:x'), hostOf('/x'), hostOf('')], ['a.test:8', null, null, null, null]);
  same(sources([{ query: 'a', results: [page('https://a.test/'), page('javascript:x')] }, { query: 'b' },
    { query: 'c', results: [page('http://b.test/'), page('https://a.test/')] }]).map((r) => r.url), ['https://a.test/', 'http://b.test/']);
  same(sources(undefined), []);
});
