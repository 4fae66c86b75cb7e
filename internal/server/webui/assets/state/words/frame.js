export const en = {
  'frame.skip': 'Skip to the conversation', 'frame.youSee': 'You see', 'frame.modelSees': 'The model sees', 'frame.eyes': 'Who sees the conversation',
  'frame.receipts': 'Receipts', 'frame.more': 'More', 'frame.since': (d) => `since ${d}`, 'frame.messages': (n, s) => `${s} ${n === 1 ? 'message' : 'messages'}`,
};

export const zh = {
  'frame.skip': '跳到对话', 'frame.youSee': '你看到的', 'frame.modelSees': '模型看到的', 'frame.eyes': '谁看到的对话',
  'frame.receipts': '压缩记录', 'frame.more': '更多', 'frame.since': (d) => `始于 ${d}`, 'frame.messages': (n, s) => `${s} 条消息`,
};
