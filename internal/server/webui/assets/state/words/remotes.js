export const en = {
  'set.part.sync': 'Machines',
  'remotes.about': 'Folders, buckets and machines with which this store keeps one history.',
  'remotes.met': (when) => `Last met ${when}`, 'remotes.never': 'Never met yet',
  'remotes.waiting': (shown, n) => `${shown} ${n === 1 ? 'file' : 'files'} to come`,
  'remotes.none': 'There are no remotes yet.',
  'remotes.how': 'They are met in a terminal: scrollback sync REMOTE, or scrollback sync --watch',
};

export const zh = {
  'set.part.sync': '机器',
  'remotes.about': '与此存储保持同一份历史的文件夹、存储桶和机器。',
  'remotes.met': (when) => `上次会合于 ${when}`, 'remotes.never': '尚未会合',
  'remotes.waiting': (shown) => `还有 ${shown} 个文件未到`,
  'remotes.none': '还没有远端。',
  'remotes.how': '在终端中会合：scrollback sync REMOTE，或 scrollback sync --watch',
};
