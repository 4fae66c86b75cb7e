import { same, serve, test } from './check.js';
import * as backups from '/assets/state/backups.js';

const list = 'GET /api/backups';
const there = (...names) => ({ to: '/shelf', backups: names.map((name) => ({ name, bytes: 9, made_at: 1 })) });

test('the backups that there are are read', async () => {
  serve({ [list]: there('one') });
  await backups.refresh();
  same([backups.standing.value.backups[0].name, backups.unset.value, backups.wrong.value], ['one', false, '']);
  serve({});
  await backups.refresh(); // no such address
  same([backups.unset.value, backups.wrong.value], [true, '']);
});

test('one that is made is told of, and is in the list', async () => {
  const asked = serve({ [list]: there('one', 'two'), 'POST /api/backups': { name: 'two', bytes: 9 } });
  const making = backups.create();
  same([backups.running.value, backups.made.value], ['create', null], 'meanwhile:');
  await making;
  same([backups.running.value, backups.made.value.name, backups.standing.value.backups.length], ['', 'two', 2]);
  same(asked.map((r) => r.at.split(' ')[0]), ['POST', 'GET']);
});

test('one that cannot be made says why', async () => {
  serve({ [list]: there('one') });
  await backups.create();
  same([backups.running.value, backups.made.value, backups.wrong.value !== ''], ['', null, true]);
});

test('what reading one came to is kept by its name', async () => {
  serve({ 'POST /api/backups/one/verify': { messages: 4 } });
  await backups.verify('one');
  await backups.verify('two');
  same([backups.seen.value.one, backups.running.value], [{ contents: { messages: 4 } }, '']);
  same(backups.seen.value.two.wrong !== '', true, 'of one that is gone:');
});

test('one that somebody else makes is looked at once more, until the part is left', async () => {
  const asked = serve({ [list]: { ...there('one'), running: 'create' } });
  await backups.refresh();
  backups.leave();
  same([asked.length, backups.running.value], [1, '']);
});
