export const en = {
  'usage.title': 'Usage',
};

export const zh = {
  'usage.title': '用量',
};
