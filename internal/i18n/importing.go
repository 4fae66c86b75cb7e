package i18n

// What is said beside the tables of an import.
var (
	ImportLineSkipped = label("import-line-skipped",
		"line %d skipped: %s",
		"跳过第 %d 行：%s")
	ImportAndMore = label("import-and-more",
		"and %s more",
		"另有 %s 处")
	ImportUnsealed = label("import-unsealed",
		"the full copy is unsealed (an older program wrote it): whether it was changed cannot be told",
		"完整副本没有封印（由旧版程序写出）：无法判断是否被更改")
	ImportAtLine = label("import-at-line",
		"%s, line %d",
		"%s，第 %d 行")
	ImportProblem = label("import-problem",
		"%s: %s: %s",
		"%s：%s：%s")
	ImportToolMore = label("import-tool-more",
		"%s: and %s more",
		"%s：另有 %s 处")
)
