export const en = {
  'frame.skip': 'Skip to the conversation', 'frame.youSee': 'You see', 'frame.modelSees': 'The model sees', 'frame.eyes': 'Who sees the conversation',
  'carried': 'What is kept', 'carried.todo': 'To-dos', 'carried.trait': 'Traits', 'carried.instruction': 'Instructions', 'carried.none': 'Nothing is kept word for word yet.',
  'carried.how': 'Select a sentence in a message to keep it.', 'carried.keep': (seq) => `Keep what is selected in #${seq}`, 'carried.drop': (x) => `Drop: ${x}`, 'carried.tick': (x) => `Done: ${x}`,
  'carried.done': 'Done', 'carried.dropped': 'No longer kept.', 'carried.ticked': 'Ticked off.',
  'frame.receipts': 'Receipts', 'frame.more': 'More', 'frame.since': (d) => `since ${d}`, 'frame.messages': (n, s) => `${s} ${n === 1 ? 'message' : 'messages'}`,
};

export const zh = {
  'frame.skip': '跳到对话', 'frame.youSee': '你看到的', 'frame.modelSees': '模型看到的', 'frame.eyes': '谁看到的对话',
  'carried': '保留的内容', 'carried.todo': '待办', 'carried.trait': '特点', 'carried.instruction': '要求', 'carried.none': '还没有逐字保留的内容。',
  'carried.how': '在消息中选中一句话即可保留。', 'carried.keep': (seq) => `保留 #${seq} 中选中的内容`, 'carried.drop': (x) => `移除：${x}`, 'carried.tick': (x) => `完成：${x}`,
  'carried.done': '完成', 'carried.dropped': '不再保留。', 'carried.ticked': '已标为完成。',
  'frame.receipts': '压缩记录', 'frame.more': '更多', 'frame.since': (d) => `始于 ${d}`, 'frame.messages': (n, s) => `${s} 条消息`,
};
