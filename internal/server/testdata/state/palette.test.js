import { same, test } from './check.js';
import { available, labelOf, matching, register } from '/assets/state/palette.js';
import { setLang } from '/assets/state/words.js';

const ran = [];
const command = (name, words, more) => ({ name, words, run: () => ran.push(name), ...more });
const names = (cs) => cs.map((c) => c.name);

test('commands are found by their label or name, those that begin with it first', () => {
  const off = register([command('rename', 'command.rename'), command('usage', 'command.usage'), command('now', () => 'Do it Now'), command('no', 'command.new', { when: () => false })]);
  same([names(available()), names(matching('na')), names(matching('NOW do')), names(matching('n')), names(matching('zzz'))], [['rename', 'usage', 'now'], ['rename'], ['now'], ['rename', 'now'], []]);
  setLang('zh');
  same([names(matching('用量')), names(matching('usage')), labelOf(available()[1])], [['usage'], ['usage'], '用量']);
  setLang('en');
  off();
  same(available(), []);
});

test('a later command of the same name takes the place of the earlier one, until it goes', () => {
  const first = register([command('import', 'command.import')]);
  const mine = command('import', 'command.export');
  const second = register([mine]);
  same(available().map(labelOf), ['Export this conversation']);
  second();
  same(available().map(labelOf), ['Import a file…']);
  first();
});
