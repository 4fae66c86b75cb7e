package i18n

// Sentences that come written out in English: why lines, messages and rows of files are skipped by an
// import, and why a model's summary is not used.
var (
	_ = note("note-answer-did-not-have-form-summary",
		"the answer did not have the form of a summary",
		"回答不符合摘要的格式")
	_ = note("note-models-rest-after-failures",
		"models are not asked for a while, since the last calls for a summary failed",
		"最近几次请求摘要都失败了，暂时不再请求模型")
	_ = note("note-backlog-is-compacted-without-model",
		"a backlog is compacted piece by piece, and no model is asked",
		"积压的消息分段压缩，不请求模型")
	_ = note("note-request-could-not-wait-for-summary",
		"the request could not wait for a summary",
		"请求来不及等待摘要")
	_ = note("note-summary-would-save-little",
		"a summary would leave the request hardly smaller than it was",
		"加上摘要，请求几乎不会变小")
	_ = note("note-request-would-not-fit-beside-summary",
		"beside a summary the request would not fit",
		"加上摘要，请求就放不下了")
	_ = note("note-answer-was-empty",
		"the answer was empty",
		"回答为空")
	_ = note("note-model-refused-to-write-summary",
		"the model refused to write a summary",
		"模型拒绝撰写摘要")
	_ = note("note-answer-held-model-thoughts-beside-summary",
		"the answer held the model's thoughts beside the summary",
		"回答中除摘要外还混有模型的思考")
	_ = note("note-answer-repeated-conversation-instead-summarizing",
		"the answer repeated the conversation instead of summarizing it",
		"回答只是重复了对话，没有概括")
	_ = note("note-summary-broke-off-in-middle",
		"the summary broke off in the middle",
		"摘要写到一半就中断了")
	_ = note("note-answer-was-code-instead-summary",
		"the answer was code instead of a summary",
		"回答是代码，不是摘要")
	_ = note("note-summary-was-tokens-long",
		"the summary was %d tokens long, and at most %d are allowed",
		"摘要长达 %d 个 token，最多允许 %d 个")
	_ = note("note-summary-was-not-in-language-conversation",
		"the summary was not in the language of the conversation",
		"摘要的语言与对话不一致")
	_ = note("note-model-called-tool-instead-answering",
		"the model called a tool instead of answering",
		"模型没有回答，而是调用了工具")
	_ = note("note-answer-did-not-end",
		"the answer did not end",
		"回答没有结束")
	_ = note("note-summary-reached-most-tokens-answer-may-have",
		"the summary reached the most tokens that an answer may have, and was cut off",
		"摘要达到回答的 token 上限，被截断")
	_ = note("note-answer-ended-early",
		"the answer ended early (%s)",
		"回答提前结束（%s）")
	_ = note("note-unpacks-to-more-than-bytes",
		"it unpacks to more than %d bytes; what is behind that is not read",
		"解压后超过 %d 字节；其后的内容未读取")
	_ = note("note-nul-bytes-were-dropped",
		"%d NUL bytes were dropped",
		"丢弃了 %d 个 NUL 字节")
	_ = note("note-nul-bytes-within-record-were-dropped",
		"%d NUL bytes within a record were dropped",
		"丢弃了一条记录中的 %d 个 NUL 字节")
	_ = note("note-malformed-json",
		"malformed JSON: a record of which only a part is there, %d bytes that begin with %s",
		"JSON 格式错误：一条记录只剩一部分，共 %d 字节，开头为 %s")
	_ = note("note-malformed-json2",
		"malformed JSON: %d bytes that begin with %s",
		"JSON 格式错误：%d 字节，开头为 %s")
	_ = note("note-malformed-json3",
		"malformed JSON: %s",
		"JSON 格式错误：%s")
	_ = note("note-malformed-json4",
		"malformed JSON",
		"JSON 格式错误")
	_ = note("note-file-ends-early",
		"the file ends early: of its last record only %d bytes are there",
		"文件不完整：最后一条记录只有 %d 字节")
	_ = note("note-file-ends-early2",
		"the file ends early: the messages after #%d are missing, up to #%d",
		"文件不完整：缺少 #%d 之后的消息，直到 #%d")
	_ = note("note-file-ends-early3",
		"the file ends early: its messages are missing",
		"文件不完整：缺少消息")
	_ = note("note-file-ends-early4",
		"the file ends early: its branches are missing, and with them which messages requests leave out",
		"文件不完整：缺少分支，以及请求略去哪些消息")
	_ = note("note-file-ends-early5",
		"the file ends early: messages of other branches may be missing",
		"文件不完整：其他分支的消息可能缺失")
	_ = note("note-file-ends-early6",
		"the file ends early: all messages are there, and the compactions behind them are missing",
		"文件不完整：消息齐全，缺少其后的压缩记录")
	_ = note("note-file-ends-early7",
		"the file ends early",
		"文件不完整")
	_ = note("note-value-is-longer-than-bytes",
		"a value is longer than %d bytes",
		"有一个值超过 %d 字节")
	_ = note("note-longer-than-bytes",
		"longer than %d bytes; of the messages behind them none is read",
		"超过 %d 字节；其后的消息均未读取")
	_ = note("note-longer-than-bytes2",
		"longer than %d bytes",
		"超过 %d 字节")
	_ = note("note-list-ends-before-file-does",
		"the list ends before the file does",
		"列表在文件结束之前就结束了")
	_ = note("note-answer-was-bytes-long",
		"the answer was %d bytes long, and at most %d tokens are allowed",
		"回答长达 %d 字节，最多允许 %d 个 token")
	_ = note("note-conversation-is-longer-than-bytes",
		"the conversation is longer than %d bytes",
		"对话超过 %d 字节")
	_ = note("note-conversation-is-there-twice",
		"the conversation %s is there twice",
		"对话 %s 出现了两次")
	_ = note("note-is-not-conversation",
		"this is not a conversation",
		"这不是一个对话")
	_ = note("note-conversation-without-id",
		"a conversation without an id",
		"对话没有 id")
	_ = note("note-conversation-without-messages",
		"a conversation without messages",
		"对话没有消息")
	_ = note("note-is-not-message",
		"this is not a message",
		"这不是一条消息")
	_ = note("note-message-without-content",
		"a message without content",
		"消息没有内容")
	_ = note("note-message-without-id",
		"a message without an id",
		"消息没有 id")
	_ = note("note-message-wrong-shape",
		"a message of the wrong shape",
		"消息的结构不对")
	_ = note("note-branch-wrong-shape",
		"a branch of the wrong shape",
		"分支的结构不对")
	_ = note("note-conversation-has-wrong-shape",
		"the conversation has the wrong shape",
		"对话的结构不对")
	_ = note("note-row-is-larger-than-mb",
		"a row is larger than %d MB, and is not read",
		"有一行超过 %d MB，未读取")
	_ = note("note-database-is-damaged",
		"the database is damaged",
		"数据库已损坏")
	_ = note("note-database-is-version-is-not-known",
		"the database is of a version that is not known",
		"数据库的版本未知")
	_ = note("note-database-is-changed-faster-than-can-be-read",
		"the database is changed faster than it can be read; try again",
		"数据库变化太快，来不及读取；请重试")
	_ = note("note-not-sq-lite-database",
		"not an SQLite database",
		"不是 SQLite 数据库")
	_ = note("note-only-nul-bytes",
		"only NUL bytes",
		"只有 NUL 字节")
	_ = note("note-last-line-is-not-complete",
		"the last line is not complete",
		"最后一行不完整")
	_ = note("note-has-no-type",
		"it has no type",
		"没有类型")
	_ = note("note-line-has-no-type",
		"the line has no type",
		"该行没有类型")
	_ = note("note-record-without-type",
		"a record without a type",
		"记录没有类型")
	_ = note("note-unknown-role-of", "unknown role %s (system, user, assistant or tool)",
		"未知的角色 %s（应为 system、user、assistant 或 tool）")
	_ = note("regexp-wrong", "error parsing regexp: %s", "正则表达式有误：%s")
	_ = note("note-unknown-role",
		"unknown role %s",
		"未知的角色 %s")
	_ = note("note-role",
		"the role %s",
		"角色 %s")
	_ = note("note-role2",
		"message %s: the role %s",
		"消息 %s：角色 %s")
	_ = note("note-message-has-no-role-is-known",
		"message %d has no role that is known",
		"消息 %d 没有已知的角色")
	_ = note("note-unknown-status-of",
		"unknown status %s (complete, interrupted or failed)",
		"未知的状态 %s（应为 complete、interrupted 或 failed）")
	_ = note("note-unknown-status",
		"unknown status %s",
		"未知的状态 %s")
	_ = note("note-not-json",
		"not JSON",
		"不是 JSON")
	_ = note("note-is-not-file",
		"it is not a file",
		"不是文件")
	_ = note("note-is-not-event",
		"it is not an event",
		"不是事件")
	_ = note("note-is-not-object-with-type",
		"it is not an object with a type",
		"不是带有类型的对象")
	_ = note("note-content-is-neither-text-nor-list-parts",
		"content is neither a text nor a list of parts",
		"内容既不是文本，也不是部分的列表")
	_ = note("note-neither-unix-ms-nor-time",
		"neither Unix ms nor a time",
		"既不是 Unix 毫秒，也不是时间")
	_ = note("note-messages-are-not-list",
		"messages are not a list",
		"消息不是列表")
	_ = note("note-list-messages-is-damaged",
		"the list of messages is damaged",
		"消息列表已损坏")
	_ = note("note-there-is-no-session-header-before",
		"there is no session header before it",
		"前面没有会话的开头")
	_ = note("note-time-or-seq-below0",
		"a time or a seq below 0",
		"时间或序号小于 0")
	_ = note("note-before1970",
		"before 1970",
		"早于 1970 年")
	_ = note("note-is-not-rfc3339-time",
		"%s is not an RFC 3339 time",
		"%s 不是 RFC 3339 时间")
	_ = note("note-data-is-not-base64",
		"part %d: data is not base64",
		"第 %d 部分：数据不是 base64")
	_ = note("note-data-is-not-base642",
		"attachment %d: data is not base64",
		"附件 %d：数据不是 base64")
	_ = note("note-set-is-not-object",
		"$set is not an object",
		"$set 不是对象")
	_ = note("note-rewind-to-names-unknown-message",
		"$rewindTo names an unknown message: %s",
		"$rewindTo 指向未知的消息：%s")
	_ = note("note-goes-back-more-than-times",
		"it goes back more than %d times",
		"回退超过 %d 次")
	_ = note("note-message-cannot-be-read",
		"the message cannot be read",
		"消息无法读取")
	_ = note("note-does-not-say-which-session-is",
		"it does not say which session it is",
		"没有说明是哪个会话")
	_ = note("note-rewritten-by-compaction-codex",
		"rewritten by a compaction of Codex: of what came before, only what the person said is left in this file",
		"被 Codex 的压缩改写：之前的内容在此文件中只剩用户说的话")
	_ = note("note-damaged",
		"damaged: %s",
		"已损坏：%s")
	_ = note("note-folder-cannot-be-read",
		"the folder cannot be read: %s",
		"无法读取文件夹：%s")
	_ = note("note-line-too-long",
		"line too long",
		"行过长")
	_ = note("note-parts",
		"parts: %s",
		"各部分：%s")
	_ = note("note-content",
		"content: %s",
		"内容：%s")
	_ = note("note-message",
		"message %d: %s",
		"消息 %d：%s")
	_ = note("note-column",
		"column %d: %s",
		"第 %d 列：%s")
	_ = note("note-not-utf8",
		"%s: not UTF-8",
		"%s：不是 UTF-8")
	_ = note("note-not-utf82",
		"not UTF-8",
		"不是 UTF-8")
	_ = note("note-database-is-damaged2",
		"%s: the database is damaged (%s)",
		"%s：数据库已损坏（%s）")
	_ = note("note-row-is-larger-than-mb2",
		"%s: a row is larger than %d MB, and is not read",
		"%s：有一行超过 %d MB，未读取")
)
