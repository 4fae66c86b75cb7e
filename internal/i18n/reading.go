package i18n

// Sentences that come written out in English: why a file of another program, or something in it, is not read. They
// stand behind those of notes.go, which say more about the same.
var (
	_ = note("full-copy-is-of-later-version",
		"the full copy is of version %d, and this program reads up to %d",
		"完整副本的版本为 %d，本程序最多可读版本 %d")
	_ = note("session-is-no-longer-there",
		"session %s is no longer there: %s",
		"会话 %s 已不存在：%s")
	_ = note("database-lacks-table",
		"%s: it has no %s; known are those of %s",
		"%s：没有 %s；已知的是 %s 的数据库")
	_ = note("database-log-has-other-format",
		"%s: its log has the format %d, known is %d",
		"%s：其日志的格式为 %d，已知的是 %d")
	_ = note("database-is-newer",
		"%s: its format is newer than this program's SQLite",
		"%s：其格式比本程序的 SQLite 更新")
	_ = note("tool-database-may-not-be-read",
		"the database %s may not be read by this user: %s",
		"当前用户无权读取数据库 %s：%s")
	_ = note("more-bytes-at-once",
		"more than %d bytes at once",
		"一次超过 %d 字节")
	_ = note("sessions-in-other-table",
		"it is kept in the table session_message, in a form that is not known; known is that of %s",
		"保存在表 session_message 中，形式未知；已知的是 %s 的形式")
	_ = note("too-large-for-copy",
		"it is too large for a copy",
		"太大，无法复制")
	_ = note("not-file",
		"not a file",
		"不是文件")
	_ = note("as-copy-gets-own-ids",
		"imported as a copy it gets ids of its own",
		"作为副本导入则有自己的 id")
	_ = note("differs-as-others-keep-more", "where others keep more of it", "别处保留了更多")
	_ = note("differs-from-message", "from message %d on", "从第 %d 条消息起")
	_ = note("differs-in-branch", "branch %s begins elsewhere", "分支 %s 的开头在别处")
	_ = note("interaction-has-wrong-message",
		"an interaction has a message of the wrong shape",
		"交互中有结构不对的消息")
	_ = note("interaction-has-other-role",
		"an interaction has a message of role %s",
		"交互中有角色为 %s 的消息")
	_ = note("part-is-no-object",
		"not an object",
		"不是对象")
	_ = note("part-has-unknown-type",
		"unknown type %s",
		"未知的类型 %s")
	_ = note("part-fields-of-wrong-type",
		"%s: fields of the wrong type",
		"%s：字段的类型不对")
	_ = note("named-is-too-large",
		"%s is too large",
		"%s 太大")
	_ = note("named-is-longer-than-bytes",
		"%s is longer than %d bytes",
		"%s 超过 %d 字节")
	_ = note("more-sessions",
		"more than %d sessions",
		"会话超过 %d 个")
	_ = note("record-has-too-many-parts",
		"a record with %d parts or calls; at most %d are read",
		"一条记录有 %d 个部分或调用；最多读取 %d 个")
	_ = note("message-has-wrong-shape",
		"a message of the wrong shape: %s",
		"消息的结构不对：%s")
	_ = note("history-is-not-list-of-turns",
		"the history is not a list of turns: %s",
		"历史不是轮次的列表：%s")
	_ = note("own-message-is-not-ours",
		"the message beside it is not one of ours",
		"旁边的消息不是本程序的消息")
	_ = note("other-value-should-begin",
		"%s stands where %s should begin",
		"应以 %[2]s 开头的地方是 %[1]s")
	_ = note("not-cell",
		"this is not a cell",
		"这不是一个单元格")
	_ = note("source-of-cell-is-no-text",
		"the source of the cell is neither a text nor a list of texts",
		"单元格的 source 既不是文本，也不是文本的列表")
	_ = note("content-of-cell-is-no-text",
		"the content is neither a text nor a list of parts",
		"内容既不是文本，也不是部分的列表")
	_ = note("malformed-json-at-byte",
		"malformed JSON at byte %d: %s",
		"JSON 格式错误，位于第 %d 字节：%s")
	_ = note("named-message",
		"message %s: %s",
		"消息 %s：%s")
	_ = note("named-part",
		"part %s: %s",
		"部分 %s：%s")
	_ = note("named-thread",
		"thread %s: %s",
		"对话 %s：%s")
)

// Sentences of the libraries that read JSON and databases, and of the system.
var (
	_ = note("json-ends-early",
		"unexpected end of JSON input",
		"JSON 不完整")
	_ = note("json-before-value",
		"invalid character %s looking for beginning of value",
		"应为一个值，却是字符 %s")
	_ = note("json-before-key",
		"invalid character %s looking for beginning of object key string",
		"应为对象的键，却是字符 %s")
	_ = note("json-after-pair",
		"invalid character %s after object key:value pair",
		"对象的键值对之后是字符 %s")
	_ = note("json-after-key",
		"invalid character %s after object key",
		"对象的键之后是字符 %s")
	_ = note("json-after-element",
		"invalid character %s after array element",
		"数组的元素之后是字符 %s")
	_ = note("json-after-value",
		"invalid character %s after top-level value",
		"整个值之后是字符 %s")
	_ = note("json-in-text",
		"invalid character %s in string literal",
		"字符串中有字符 %s")
	_ = note("json-in-escape",
		"invalid character %s in string escape code",
		"字符串的转义中有字符 %s")
	_ = note("json-in-hexadecimal",
		`invalid character %s in \u hexadecimal character escape`,
		`\u 转义中有字符 %s`)
	_ = note("json-in-number",
		"invalid character %s in numeric literal",
		"数字中有字符 %s")
	_ = note("json-after-point",
		"invalid character %s after decimal point in numeric literal",
		"数字的小数点之后是字符 %s")
	_ = note("json-in-exponent",
		"invalid character %s in exponent of numeric literal",
		"数字的指数中有字符 %s")
	_ = note("json-in-word",
		"invalid character %s in literal %s (expecting %s)",
		"%[2]s 中有字符 %[1]s（应为 %[3]s）")
	_ = note("json-too-deep",
		"exceeded max depth",
		"嵌套过深")
	_ = note("json-not-at-value",
		"not at beginning of value",
		"不在值的开头")
	_ = note("json-comma-missing",
		"expected comma after array element",
		"数组的元素之后应为逗号")
	_ = note("json-colon-missing",
		"expected colon after object key",
		"对象的键之后应为冒号")
	_ = note("json-field-of-other-type",
		"json: cannot unmarshal %s into Go struct field %s of type %s",
		"JSON 的 %s 不适合字段 %s，其类型为 %s")
	_ = note("json-value-of-other-type",
		"json: cannot unmarshal %s into Go value of type %s",
		"JSON 的 %s 不适合类型 %s")
	_ = note("json-no-object",
		"it is %s where an object should be",
		"应为对象，却是 %s")
	_ = note("json-field-is-array", "%s is array", "%s 是数组")
	_ = note("json-field-is-bool", "%s is bool", "%s 是布尔值")
	_ = note("json-field-is-number", "%s is number", "%s 是数字")
	_ = note("json-field-is-other-number", "%s is number %s", "%s 是数字 %s")
	_ = note("json-field-is-object", "%s is object", "%s 是对象")
	_ = note("json-field-is-text", "%s is string", "%s 是字符串")
	_ = note("json-message", "a message: %s", "一条消息：%s")
	_ = note("sqlite-damaged",
		"database disk image is malformed (%d)",
		"数据库文件已损坏（%d）")
	_ = note("sqlite-schema-part-damaged",
		"database disk image is malformed: malformed database schema (%s) - %s (%d)",
		"数据库文件已损坏：表的定义 %s 已损坏，%s（%d）")
	_ = note("sqlite-schema-damaged",
		"database disk image is malformed: malformed database schema (%s) (%d)",
		"数据库文件已损坏：表的定义 %s 已损坏（%d）")
	_ = note("sqlite-orphan-index", "orphan index", "索引没有表")
	_ = note("sqlite-invalid-root", "invalid rootpage", "根页无效")
	_ = note("sqlite-not-database",
		"file is not a database (%d)",
		"文件不是数据库（%d）")
	_ = note("system-cannot-open", "open %s: %s", "打开 %s：%s")
	_ = note("system-cannot-read", "read %s: %s", "读取 %s：%s")
	_ = note("system-cannot-look", "stat %s: %s", "查看 %s：%s")
	_ = note("system-file-missing", "file does not exist", "文件不存在")
	_ = note("system-path-missing", "no such file or directory", "文件或文件夹不存在")
	_ = note("system-may-not", "permission denied", "没有权限")
	_ = note("system-is-folder", "is a directory", "是文件夹")
	_ = note("system-ends-early", "unexpected EOF", "意外结束")
	_ = note("system-cannot-transfer", "input/output error", "输入或输出错误")
)
