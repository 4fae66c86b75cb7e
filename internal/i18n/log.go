package i18n

// What commands that a person waits for may log.
var (
	_ = note("log-no-backup-could-be-made",
		"no backup could be made",
		"未能创建备份")
	_ = note("log-backup-was-made",
		"a backup was made",
		"已创建备份")
	_ = note("log-draft-was-not-saved",
		"the draft was not saved",
		"草稿未能保存")
	_ = note("log-search-web-was-not-kept",
		"a search of the web was not kept",
		"网络搜索的结果未能保存")
	_ = note("log-turn-failed",
		"a turn failed",
		"这一轮失败了")
	_ = note("log-question-has-no-vector",
		"a question has no vector, and words alone are searched",
		"问题没有向量，只按词搜索")
	_ = note("log-call-for-vectors-not-in-books",
		"a call for vectors is not in the books",
		"一次向量调用未能记账")
	_ = note("log-vectors-cannot-be-made-now",
		"vectors of messages cannot be made now",
		"暂时无法生成消息的向量")
	_ = note("log-search-web-failed",
		"a search of the web failed",
		"网络搜索失败")
	_ = note("log-end-turn-was-not-stored",
		"the end of a turn was not stored",
		"这一轮的结束未能保存")
	_ = note("log-conversation-did-not-get-title-client",
		"a conversation did not get the title of its client",
		"对话没有得到客户端给的标题")
	_ = note("log-summary-client-compacted-not-taken",
		"the summary by which a client compacted its history was not taken",
		"客户端压缩历史所用的摘要未能采用")
	_ = note("log-conversation-stands-at-call-beside",
		"a conversation stands at a call beside it",
		"对话停在了一次旁路调用上")
	_ = note("log-not-noted-that-answer-reached-client",
		"it was not noted that an answer reached its client",
		"没有记下答案已送达客户端")
	_ = note("log-conversation-keeps-title-first-prompt",
		"a conversation keeps the title of its first prompt",
		"对话保留由首个提问得来的标题")
	_ = note("log-whether-another-server-compacts-could-not-be-found",
		"whether another server compacts could not be found out",
		"无法确定是否有其他服务器正在压缩")
	_ = note("log-compaction-failed-and-request-fits-without",
		"a compaction failed, and the request fits without it",
		"压缩失败，但请求不压缩也放得下")
	_ = note("log-no-model-gave-summary",
		"no model gave a summary; compacting without one",
		"没有模型给出摘要；不用摘要进行压缩")
	_ = note("log-copy-after-compaction-could-not-be-written",
		"the full copy after a compaction could not be written",
		"压缩后的完整副本未能写入")
	_ = note("log-file-segment-could-not-be-written",
		"the file of a segment could not be written",
		"片段的文件未能写入")
	_ = note("log-model-for-summaries-cannot-be-used",
		"a model for summaries cannot be used",
		"无法使用用于摘要的模型")
	_ = note("log-model-for-summaries-is-not-available",
		"a model for summaries is not available",
		"用于摘要的模型不可用")
	_ = note("log-compacting-ahead-failed",
		"compacting ahead failed",
		"提前压缩失败")
	_ = note("log-what-was-imported-could-not-be-compacted",
		"what was imported could not be compacted",
		"导入的内容未能压缩")
	_ = note("log-connection-for-notifications-was-lost",
		"the connection for notifications was lost; polling goes on",
		"通知连接已断开；改为轮询")
	_ = note("log-database-clock-was-set",
		"the database's clock was set",
		"数据库的时钟被调整了")
	_ = note("log-what-was-written-could-not-be-numbered-yet",
		"what was written could not be numbered yet",
		"已写入的内容暂时无法编号")
	_ = note("log-what-database-still-holds-could-not-be-rescued",
		"what the database still holds could not be rescued",
		"无法抢救数据库中仍有的内容")
	_ = note("log-database-is-open-is-no-longer-one-at",
		"the database that is open is no longer the one at its path; what could be read of it was copied, and nothing more is written until the program is started again",
		"已打开的数据库不再是其路径上的那一个；能读取的内容已复制，在重新启动程序之前不再写入")
	_ = note("log-model-panicked",
		"a model panicked",
		"调用模型时程序内部出错")
	_ = note("log-provider-reported-usage-cannot-be",
		"a provider reported usage that cannot be; it is kept as an estimate",
		"服务商报告的用量不可能成立；作为估计值保存")
	_ = note("log-what-server-taught-was-not-kept",
		"what a server taught was not kept",
		"从服务器学到的信息未能保存")
	_ = note("log-what-server-list-says-was-not-kept",
		"what a server's list says was not kept",
		"服务器列表中的信息未能保存")
	_ = note("log-artifact-is-damaged-where-is",
		"an artifact is damaged where it is; it was copied as it is",
		"有一个附件已损坏；已原样复制")
	_ = note("log-artifacts-are-kept-in-folder-machine",
		"artifacts are kept in a folder of this machine; servers that share a database need one place for them (objects)",
		"附件保存在本机的文件夹中；共享数据库的各服务器需要共同的存放处（objects）")
	_ = note("log-others-may-read",
		"others may read this, and it could not be changed",
		"其他用户可以读取此处，且无法更改")
	_ = note("log-object-store-does-not-work-now",
		"the object store does not work now; /readyz says when it does again",
		"对象存储目前不可用；恢复后 /readyz 会说明")
	_ = note("log-older-messages-could-not-be-looked-through",
		"older messages could not be looked through for what is to be kept",
		"未能在较早的消息中查找要保留的内容")
	_ = note("log-hashes-older-messages-could-not-be-made",
		"hashes of older messages could not be made",
		"较早消息的校验值未能生成")
)
