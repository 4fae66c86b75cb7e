export const en = {
  'minimap.label': 'The whole conversation', 'minimap.at': (a, b, n) => `#${a} to #${b} of ${n}`,
  'first.title': 'Nothing you say here is lost.', 'first.about': 'The model’s window is small; your conversation is not. scrollback keeps every word, sends what fits, and shows you exactly what the model sees.',
  'first.sample': 'See it on a sample', 'first.sampleAbout': '3,000 messages, made on this server in seconds. One click removes them.', 'first.open': 'Open the sample', 'first.making': 'Making it…',
  'first.search': '1. Search it', 'first.searchAbout': 'Find one sentence among 3,000 messages.', 'first.compact': '2. Compact it', 'first.compactAbout': 'See thousands of tokens become a few hundred, and what stayed.',
  'first.again': '3. Open it again', 'first.againAbout': 'Every original is still there, word for word.', 'first.import': 'Import from another chat', 'first.keys': 'Keyboard shortcuts',
  'first.isSample': 'This is the sample.', 'first.trySearch': (w) => `Search “${w}”`, 'first.tryCompact': 'Compact now', 'first.tryOpen': 'See what the model sees', 'first.remove': 'Remove the sample', 'first.removed': 'The sample is gone.',
};

export const zh = {
  'minimap.label': '整个对话', 'minimap.at': (a, b, n) => `第 ${a} 到 ${b} 条，共 ${n} 条`,
  'first.title': '在这里说过的话都不会丢失。', 'first.about': '模型的窗口很小，你的对话却不必小。scrollback 保存每一个字，发送放得下的部分，并如实显示模型看到的内容。',
  'first.sample': '用示例看一看', 'first.sampleAbout': '3,000 条消息，几秒内在这台服务器上生成。一键即可移除。', 'first.open': '打开示例', 'first.making': '正在生成…',
  'first.search': '1. 搜索', 'first.searchAbout': '在 3,000 条消息里找到一句话。', 'first.compact': '2. 压缩', 'first.compactAbout': '看几千个 token 变成几百个，以及留下了什么。',
  'first.again': '3. 再次打开', 'first.againAbout': '每条原文都还在，一字不差。', 'first.import': '从其他聊天工具导入', 'first.keys': '键盘快捷键',
  'first.isSample': '这是示例对话。', 'first.trySearch': (w) => `搜索“${w}”`, 'first.tryCompact': '立即压缩', 'first.tryOpen': '看看模型看到了什么', 'first.remove': '移除示例', 'first.removed': '示例已移除。',
};
