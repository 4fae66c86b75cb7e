import { refusal, same, serve, test } from './check.js';
import { banner, toast } from '/assets/state/notices.js';
import * as projects from '/assets/state/projects.js';

test('a project is read with what is stored; one that is not there can be made', async () => {
  serve({ 'GET /api/projects': { projects: [{ name: 'p', title: 'The P' }, { name: 'q', title: '' }] }, 'GET /api/projects/p%2Fq': { name: 'p/q', version: 2 } });
  await projects.refresh();
  same(projects.list.value.map(projects.nameOf), ['The P', 'q']);
  await projects.look('p/q');
  same([projects.open.value.version, projects.missing.value], [2, null]);
  await projects.look('new');
  same([projects.open.value, projects.missing.value, banner.value, projects.blank('new').version], [null, 'new', null, 0]);
});

test('what is stored names the version that it replaces', async () => {
  const asked = serve({ 'PUT /api/projects/p': ({ body }) => ({ name: 'p', version: 3, ...body }), 'GET /api/projects': { projects: [] } });
  same([await projects.save({ name: 'p', version: 2 }, { title: 'T' }), asked[0].headers['If-Match'], asked[0].body, projects.open.value.version], [true, '"2"', { title: 'T' }, 3]);
  await projects.save({ name: 'p', version: 0 }, {});
  same(asked.filter((r) => r.at.startsWith('PUT'))[1].headers['If-Match'], undefined);
  serve({ 'PUT /api/projects/p': () => refusal(412, 'the project is at version 4') });
  same([await projects.save({ name: 'p', version: 3 }, {}), banner.value.text], [false, 'the project is at version 4']);
});

test('deleting says that conversations stay', async () => {
  serve({ 'DELETE /api/projects/p': { name: 'p', deleted: true }, 'GET /api/projects': { projects: [] } });
  same([await projects.remove({ name: 'p', version: 3 }), toast.value.text.includes('conversations stay')], [true, true]);
});
