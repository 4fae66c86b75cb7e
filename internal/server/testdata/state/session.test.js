import { is, refusal, same, serve, test } from './check.js';
import { api } from '/assets/state/api.js';
import { banner } from '/assets/state/notices.js';
import { admin, cannot, fault, locked, look, mayWrite, named, signIn, signOut, who } from '/assets/state/session.js';

const routes = {};
const asked = serve(routes);
const nobody = { name: '', role: 'no', projects: [], key_needed: true };
const ada = { name: 'ada', role: 'write', projects: ['notes'], key_needed: true };

test('where no key is needed the page is open, and names nobody', async () => {
  routes['GET /api/session'] = { name: 'operator', role: 'admin', projects: [], key_needed: false };
  same([await look(), locked.value, named.value, mayWrite.value, admin.value], [true, false, false, true, true]);
});

test('without a key it is shut; a wrong one says so, a right one opens it', async () => {
  routes['GET /api/session'] = nobody;
  same([await look(), locked.value], [false, true]);
  routes['POST /api/session'] = () => refusal(401, 'this key is not known');
  same([await signIn('sb-wrong'), fault.value, locked.value], [false, 'this key is not known', true]);
  routes['POST /api/session'] = ada;
  same([await signIn('  sb-right '), fault.value, locked.value, named.value], [true, '', false, true]);
  same(asked.at(-1).body, { key: 'sb-right' });
});

test('a key that ends while the page is open shuts it, without a complaint', async () => {
  routes['GET /api/usage'] = () => refusal(401, 'this key was revoked');
  await api.usage().then(() => is(false, 'it was let in'), () => {});
  same([locked.value, banner.value], [true, null]);
});

test('whoever may only read is told so', async () => {
  routes['POST /api/session'] = { ...ada, role: 'read' };
  await signIn('sb-read');
  same([mayWrite.value, admin.value, cannot.value], [false, false, 'readOnly']);
  routes['GET /api/session'] = { name: 'operator', role: 'read', projects: [], key_needed: false, read_only: true };
  await look();
  same([mayWrite.value, cannot.value], [false, 'serverReads']);
  routes['GET /api/session'] = ada;
  await look();
  same([mayWrite.value, cannot.value], [true, '']);
});

test('signing out shuts the page', async () => {
  routes['DELETE /api/session'] = () => new Response(null, { status: 204 });
  await signOut();
  same([locked.value, who.value], [true, null]);
});
