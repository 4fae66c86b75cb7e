const s = (shown, n, one, many) => `${shown} ${n === 1 ? one : many}`;

export const en = {
  'set.part.backups': 'Backups',
  'backups.about': 'A backup is one file with everything that is stored, made while it is in use.',
  'backups.unset': 'No backups are set up. In the config file, name a folder on another disk, or a bucket, and start the server again:',
  'backups.last': 'Last backup', 'backups.never': 'none yet', 'backups.to': 'They are kept in', 'backups.nightly': 'Made', 'backups.every': (at) => `each day at ${at}`,
  'backups.keep': 'Kept for', 'backups.days': (shown, n) => s(shown, n, 'day', 'days'), 'backups.hours': (n) => `${n} hours`, 'backups.encryption': 'Encryption', 'backups.encrypted': 'Encrypted',
  'backups.create': 'Back up now', 'backups.creating': 'A backup is being made. It goes on when you leave this page.',
  'backups.holds': (conversations, messages, c, m) => `${s(conversations, c, 'conversation', 'conversations')} and ${s(messages, m, 'message', 'messages')}`,
  'backups.made': (size, holds) => `Made: ${size} with ${holds}.`, 'backups.none': 'There are no backups yet.',
  'backups.verify': 'Verify', 'backups.verifyOf': (name) => `Verify ${name}`, 'backups.reading': 'Reading it to its end…', 'backups.whole': (holds) => `Whole: ${holds}.`,
  'backups.restoreAbout': 'A backup is restored in a terminal, into another folder: scrollback backup restore FILE --data DIR',
};

export const zh = {
  'set.part.backups': '备份',
  'backups.about': '备份是包含全部存储内容的单个文件，在使用过程中创建。',
  'backups.unset': '没有设置备份。请在配置文件中指定另一块磁盘上的文件夹或一个存储桶，然后重新启动服务器：',
  'backups.last': '最近的备份', 'backups.never': '还没有', 'backups.to': '存放位置', 'backups.nightly': '创建时间', 'backups.every': (at) => `每天 ${at}`,
  'backups.keep': '保留', 'backups.days': (shown) => `${shown} 天`, 'backups.hours': (n) => `${n} 小时`, 'backups.encryption': '加密', 'backups.encrypted': '已加密',
  'backups.create': '立即备份', 'backups.creating': '正在创建备份。离开此页面后会继续。',
  'backups.holds': (conversations, messages) => `${conversations} 个对话和 ${messages} 条消息`,
  'backups.made': (size, holds) => `已创建：${size}，包含 ${holds}。`, 'backups.none': '还没有备份。',
  'backups.verify': '检查', 'backups.verifyOf': (name) => `检查 ${name}`, 'backups.reading': '正在完整读取……', 'backups.whole': (holds) => `完整：${holds}。`,
  'backups.restoreAbout': '在终端中把备份恢复到另一个文件夹：scrollback backup restore FILE --data DIR',
};
