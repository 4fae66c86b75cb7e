package i18n

// What is said of an error by its code, before the English of a sentence that the catalogue does
// not have.
var (
	_ = label("failed/invalid", "the request is wrong: %s", "请求有误：%s")
	_ = label("failed/not_found", "not found: %s", "找不到所请求的内容：%s")
	_ = label("failed/conflict", "in conflict with others: %s", "与他人的操作冲突：%s")
	_ = label("failed/over_budget", "over the budget: %s", "超出预算：%s")
	_ = label("failed/refused", "not allowed: %s", "不允许这样做：%s")
	_ = label("failed/rate_limited", "too many requests, try later: %s", "请求过于频繁，请稍后再试：%s")
	_ = label("failed/unavailable", "not possible now: %s", "暂时无法完成：%s")
	_ = label("failed/canceled", "stopped: %s", "请求已停止：%s")
	_ = label("failed/internal", "internal error: %s", "内部错误：%s")
)
