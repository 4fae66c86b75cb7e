const sessions = (n) => `${n} ${n === 1 ? 'session is' : 'sessions are'} not here yet`;

export const en = {
  'set.part.agents': 'Agents',
  'agents.here': 'On this machine, and shown only here', 'agents.about': 'Coding agents that ask scrollback, or could. Whether one really asks is seen from what its hooks did.', 'agents.looking': 'Looking…', 'agents.nobody': 'No agent was found on this machine.', 'agents.again': 'Look again',
  'agents.commandsAbout': 'What writes into the settings of other programs is done in a terminal, where the plan is shown first: --dry-run shows it and writes nothing.',
  'agents.none': 'Not set up', 'agents.serverOnly': 'Has the MCP server', 'agents.hooks': (events) => `Has the MCP server, hooks at ${events}`, 'agents.comma': ', ',
  'agents.event.session-start': 'start', 'agents.event.prompt': 'prompt', 'agents.event.pre-compact': 'compaction', 'agents.event.stop': 'end',
  'agents.asked': (spoke, asked, last, ms) => `Its hooks spoke ${spoke} of ${asked} times, last asked ${last}, ${ms} ms median`,
  'agents.silenced': 'Its hooks are told nothing.', 'agents.switch': (x) => `Hooks of ${x}`, 'agents.hooksShort': 'Hooks',
  'agents.moved': (x) => `It calls ${x}, which is not there any more.`, 'agents.other': (x) => `It calls another program, ${x}.`, 'agents.untrusted': (x) => `Codex does not trust the hooks, and skips them (${x}): answer “Trust all” there.`,
  'agents.doubled': (x) => `It is set up twice, also in ${x}.`, 'agents.switchedOff': (x) => `Hooks are switched off in ${x}.`, 'agents.unreadable': (x) => `${x} is not in the form that the agent reads, which passes over all of it.`, 'agents.unknown': (x, kind) => `${kind}: ${x}`,
  'agents.gaveUp': (x) => `It could not start, and gave up: ${x}`, 'agents.service': 'Collecting', 'agents.serviceIs': 'A service imports what is said, as it is said',
  'agents.neverAsked': 'Its hooks were never asked since they were set up: restart it.', 'agents.slow': (slow, of) => `${slow} of ${of} answers came after their time and were dropped.`,
  'agents.behind': (n, of, name) => `${sessions(n)}, of ${of}: scrollback import --from ${name}`,
  'agents.files': 'Files', 'agents.calls': (x) => `They call ${x}`,
};

export const zh = {
  'set.part.agents': '代理',
  'agents.here': '位于本机，也只在本机显示', 'agents.about': '向 scrollback 询问、或可以向它询问的编程代理。是否真的在询问，要看它的钩子做过什么。', 'agents.looking': '正在查找……', 'agents.nobody': '本机上没有找到代理。', 'agents.again': '重新查找',
  'agents.commandsAbout': '需要写入其他程序设置的操作请在终端中进行，那里会先显示计划：--dry-run 只显示而不写入。',
  'agents.none': '未设置', 'agents.serverOnly': '已有 MCP 服务器', 'agents.hooks': (events) => `已有 MCP 服务器、钩子（${events}）`, 'agents.comma': '、',
  'agents.event.session-start': '开始', 'agents.event.prompt': '提问', 'agents.event.pre-compact': '压缩', 'agents.event.stop': '结束',
  'agents.asked': (spoke, asked, last, ms) => `钩子被调用 ${asked} 次，答复 ${spoke} 次，最近一次 ${last}，中位数 ${ms} 毫秒`,
  'agents.silenced': '钩子不会得到任何内容。', 'agents.switch': (x) => `${x} 的钩子`, 'agents.hooksShort': '钩子',
  'agents.moved': (x) => `它调用的 ${x} 已不存在。`, 'agents.other': (x) => `它调用的是另一个程序 ${x}。`, 'agents.untrusted': (x) => `Codex 不信任这些钩子，会跳过它们（${x}）：请在 Codex 中选择“Trust all”。`,
  'agents.doubled': (x) => `重复设置，${x} 中也有。`, 'agents.switchedOff': (x) => `钩子在 ${x} 中被关闭。`, 'agents.unreadable': (x) => `${x} 的格式代理无法读取，会忽略其全部内容。`, 'agents.unknown': (x, kind) => `${kind}：${x}`,
  'agents.gaveUp': (x) => `无法启动，已放弃：${x}`, 'agents.service': '持续收集', 'agents.serviceIs': '由服务随时导入新的对话内容',
  'agents.neverAsked': '钩子设置后从未被调用：请重新启动该代理。', 'agents.slow': (slow, of) => `${of} 次答复中有 ${slow} 次超时，已丢弃。`,
  'agents.behind': (n, of, name) => `${of} 个会话中有 ${n} 个尚未导入：scrollback import --from ${name}`,
  'agents.files': '文件', 'agents.calls': (x) => `它们调用 ${x}`,
};
