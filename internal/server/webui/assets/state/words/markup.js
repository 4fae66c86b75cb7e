export const en = {
  'markup.raw': 'Show the text as the model reads it', 'markup.drawn': 'Show the text drawn',
  'markup.code': 'Code', 'markup.table': 'Table', 'markup.formula': 'Formula',
};

export const zh = {
  'markup.raw': '显示模型读到的原文', 'markup.drawn': '显示排版后的文字',
  'markup.code': '代码', 'markup.table': '表格', 'markup.formula': '公式',
};
