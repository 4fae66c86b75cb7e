import { refusal, same, serve, test } from './check.js';
import { banner } from '/assets/state/notices.js';
import * as setups from '/assets/state/setups.js';

const codex = { agent: 'codex', installed: true, off: false, problems: [], asked: { asked: 3, spoke: 1, slow: 0 }, sessions: 4, behind: 1 };

test('an agent is silenced, and keeps what only the list knows', async () => {
  const asked = serve({ 'GET /api/agents': { agents: [codex, { agent: 'crush' }] }, 'PATCH /api/agents/codex': { agent: 'codex', off: true } });
  await setups.refresh();
  same(setups.list.value.length, 2);
  same(await setups.silence(codex, true), true);
  same(asked[1].body, { off: true });
  same([setups.list.value[0].off, setups.list.value[0].sessions, setups.list.value[1].off], [true, 4, undefined]);
});

test('a refusal silences nobody', async () => {
  setups.list.value = [codex];
  serve({ 'PATCH /api/agents/codex': () => refusal(403, 'only on this machine') });
  same([await setups.silence(codex, true), setups.list.value[0].off, banner.value.text], [false, false, 'only on this machine']);
});

test('what is in the way is said, whatever it is', () => {
  const of = (a) => setups.obstacles(a).map(([key, ...rest]) => [key, ...rest].join(' '));
  same(of({ ...codex, behind: 0 }), []);
  same(of({ problems: [{ kind: 'moved', file: '/x' }, { kind: 'unreadable', file: '/y', line: 3 }, { kind: 'new', file: '/z' }, { kind: 'gave-up', why: 'damaged' }] }),
    ['agents.moved /x moved', 'agents.unreadable /y:3 unreadable', 'agents.unknown /z new', 'agents.gaveUp damaged gave-up']);
  same(of({ asked: { asked: 0 } }), ['agents.neverAsked']);
  same(of({ asked: { asked: 9, slow: 2 } }), ['agents.slow 2 9']);
  same(of(codex), ['agents.behind 1 4 codex']);
});

test('the command sets up, or mends, or is none', () => {
  same(setups.command({ agent: 'pi', installed: false }), 'scrollback install --agent pi');
  same(setups.command({ agent: 'pi', installed: true, problems: [{ kind: 'moved' }] }), 'scrollback install --agent pi');
  same(setups.command({ ...codex, problems: [{ kind: 'off' }] }), '');
  same([setups.command({ agent: 'watch', installed: true }), setups.command({ agent: 'watch', installed: true, problems: [{ kind: 'gave-up' }] })], ['', 'scrollback install --watch']);
});
