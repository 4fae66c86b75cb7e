const n = (x) => x.toLocaleString('en-US');

export const en = {
  'usage.title': 'Usage', 'usage.zone': (name) => `days in ${name}`, 'usage.range': 'Which days', 'usage.7': '7 days', 'usage.30': '30 days', 'usage.year': 'Year', 'usage.dates': 'Dates…', 'usage.from': 'From', 'usage.to': 'To', 'usage.show': 'Show',
  'usage.csv': 'CSV', 'usage.csvHint': 'Download what is shown as CSV', 'usage.calls': 'Calls', 'usage.ofSummaries': (x) => `${x} of them asked for summaries`, 'usage.unbooked': (x) => `${x} of them asked for summaries, without tokens`, 'usage.input': 'Input tokens', 'usage.fromCache': (x) => `${x} from the cache`,
  'usage.output': 'Output tokens', 'usage.ofReasoning': (x) => `${x} of it reasoning`, 'usage.cost': 'Cost', 'usage.forSummaries': (x) => `${x} of it for summaries`, 'usage.noPrice': 'no model here has a price', 'usage.estimated': 'Estimated', 'usage.reported': 'the rest as reported', 'usage.allReported': 'all as reported',
  'usage.byDay': 'Tokens by day', 'usage.byWeek': 'Tokens by week', 'usage.week': (day) => `Week from ${day}`, 'usage.cached': 'Input, cached', 'usage.fresh': 'Input, new', 'usage.out': 'Output', 'usage.summaries': 'For summaries', 'usage.allDays': 'All days',
  'usage.chart': 'Tokens by day; arrow keys go from day to day', 'usage.asTable': 'As a table', 'usage.day': 'Day', 'usage.byModel': 'By model', 'usage.byProject': 'By project', 'usage.byConversation': 'By conversation', 'usage.top': (x) => `the ${n(x)} with the most tokens`,
  'usage.model': 'Model', 'usage.project': 'Project', 'usage.conversation': 'Conversation', 'usage.in': 'Input', 'usage.cachedShare': 'Cached', 'usage.share': 'Share', 'usage.none': 'No model was asked in these days.', 'usage.noneHint': 'Once a conversation has asked one, its calls, tokens and cost are added up here.',
  'usage.byTool': 'Imported, by tool', 'usage.noBudget': 'calls that other tools made; they count against no budget', 'usage.tool': 'Tool', 'usage.andImported': (x) => `, ${x} were imported`,
  'usage.unknown': 'unknown', 'usage.loading': 'Adding up…',
};

export const zh = {
  'usage.title': '用量', 'usage.zone': (name) => `按 ${name} 计日`, 'usage.range': '日期范围', 'usage.7': '7 天', 'usage.30': '30 天', 'usage.year': '一年', 'usage.dates': '选择日期…', 'usage.from': '从', 'usage.to': '到', 'usage.show': '显示',
  'usage.csv': 'CSV', 'usage.csvHint': '将所示内容下载为 CSV', 'usage.calls': '调用次数', 'usage.ofSummaries': (x) => `其中请求摘要 ${x} 次`, 'usage.unbooked': (x) => `其中请求摘要 ${x} 次，未计 token`, 'usage.input': '输入 token', 'usage.fromCache': (x) => `${x} 来自缓存`,
  'usage.output': '输出 token', 'usage.ofReasoning': (x) => `其中思考 ${x}`, 'usage.cost': '费用', 'usage.forSummaries': (x) => `其中摘要 ${x}`, 'usage.noPrice': '这里的模型都没有价格', 'usage.estimated': '估算', 'usage.reported': '其余由服务方报告', 'usage.allReported': '全部由服务方报告',
  'usage.byDay': '每日 token', 'usage.byWeek': '每周 token', 'usage.week': (day) => `${day}起的一周`, 'usage.cached': '输入（缓存）', 'usage.fresh': '输入（新增）', 'usage.out': '输出', 'usage.summaries': '用于摘要', 'usage.allDays': '全部日期',
  'usage.chart': '每日 token，用方向键逐日查看', 'usage.asTable': '以表格显示', 'usage.day': '日期', 'usage.byModel': '按模型', 'usage.byProject': '按项目', 'usage.byConversation': '按对话', 'usage.top': (x) => `token 最多的 ${x} 个`,
  'usage.model': '模型', 'usage.project': '项目', 'usage.conversation': '对话', 'usage.in': '输入', 'usage.cachedShare': '缓存', 'usage.share': '占比', 'usage.none': '这些天没有调用过模型。', 'usage.noneHint': '对话调用模型之后，次数、token 和费用会汇总在这里。',
  'usage.byTool': '导入的用量，按工具', 'usage.noBudget': '由其他工具调用，不计入任何预算', 'usage.tool': '工具', 'usage.andImported': (x) => `，导入 ${x} 次`,
  'usage.unknown': '未知', 'usage.loading': '正在汇总…',
};
