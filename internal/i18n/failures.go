package i18n

// Sentences of errors whose own text is not shown.
var (
	_             = problem("named-failure", "%s: %w", "%s：%w")
	_             = problem("named-value", "%s: %s", "%s：%s")
	InternalError = problem("internal-error",
		"internal error; the log has the details",
		"内部错误，详情见日志")
	StoreCannotAnswer = problem("store-cannot-answer",
		"the store cannot answer now; nothing was lost",
		"存储暂时无法响应，没有丢失任何内容")
	ModelCouldNotAnswer = problem("model-could-not-answer",
		"the model could not answer; try again",
		"模型未能回答，请重试")
	DatabaseGone = problem("database-gone",
		"the database was deleted, replaced or cut short while it was in use; nothing more is written until scrollback is started again, and the log says what could be rescued",
		"数据库在使用中被删除、替换或截断；在 scrollback 重新启动之前不再写入任何内容，日志中说明了抢救出的内容")
	StoreIsBeingMoved = problem("store-is-being-moved",
		"this store is being moved to another place; here it can only be read",
		"此存储正在迁移到别处；在这里只能读取")
	DiskIsFull = problem("disk-is-full",
		"there is no room left on the disk; what was acknowledged is kept",
		"磁盘空间不足；已确认的内容都已保存")
	ServerShutsDown = problem("server-shuts-down",
		"the server is shutting down; try again",
		"服务器正在关闭，请重试")
	RequestStopped = problem("request-stopped",
		"the request was stopped",
		"请求已停止")
)
