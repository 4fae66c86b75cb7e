package i18n

// Sentences of errors of originals, artifacts and pages of them.
var (
	AttachmentNotText = problem("attachment-not-text",
		"not text: %s, %d bytes; the text of PDF and Office files is not read, so attach it as text",
		"不是文本：%s，%d 字节；PDF 和 Office 文件中的文字不会被读取，请以文本形式附上")
	NotText = problem("not-text",
		"not text: %s, %d bytes",
		"不是文本：%s，%d 字节")
	MalformedArtifactID = problem("malformed-artifact-id",
		"malformed artifact id",
		"附件 id 格式不正确")
	ObjectListDoesNotEnd = problem("object-list-does-not-end",
		"the list of objects does not end: check the object store",
		"对象列表没有尽头：请检查对象存储")
	ArtifactBytesMissing = problem("artifact-bytes-missing",
		"the bytes of this artifact are missing",
		"此附件的内容丢失")
	MoreThanBytes = problem("more-than-bytes",
		"more than %d bytes",
		"超过 %d 字节")
	CopyHasWrongSize = problem("copy-has-wrong-size",
		"full copy %s has %d bytes instead of %d",
		"完整副本 %s 有 %d 字节，应为 %d 字节")
	CopyNoteUnreadable = problem("copy-note-unreadable",
		"the note of full copy %s cannot be read",
		"无法读取完整副本 %s 的说明")
	NoSuchCopy = problem("no-such-copy",
		"conversation %s has no such full copy",
		"对话 %s 没有这份完整副本")
	SyncStateUnreadable = problem("sync-state-unreadable",
		"%s cannot be read; without it, the next sync reads everything again",
		"无法读取 %s；删除它之后，下次同步会重新读取全部内容")
	SyncStateOfOtherVersion = problem("sync-state-of-other-version",
		"%s is of version %d, and this program knows version %d",
		"%s 的版本是 %d，而此程序只认识版本 %d")
	SyncNamesNoRemote = problem("sync-names-no-remote",
		"name a remote: a folder, s3://BUCKET, ssh://HOST or https://HOST, or set [sync] remotes in the config file",
		"请指定远端：文件夹、s3://BUCKET、ssh://HOST 或 https://HOST，或在配置文件的 [sync] 中设置 remotes")
	SyncIsNoVault = problem("sync-is-no-vault",
		"%s is neither a folder nor a bucket: machines meet there directly, with nothing to set up",
		"%s 不是文件夹也不是存储桶：机器在那里直接会合，无需设置")
	SyncLeftOut = problem("sync-left-out",
		"%d things were left out; everything else was taken",
		"有 %d 项被略过；其余已收下")
	SyncToCome = problem("sync-to-come",
		"%d files are still to come; sync again later",
		"还有 %d 个文件未到；请稍后再同步")
	SyncOnlyReads = problem("sync-only-reads",
		"this key may read and not write: nothing was taken",
		"此密钥只能读取，不能写入：什么也没有收下")
	NoSuchArtifact = problem("no-such-artifact",
		"no such artifact",
		"没有这个附件")
	SegmentsNestedTooDeep = problem("segments-nested-too-deep",
		"segments nested deeper than %d levels",
		"片段嵌套超过 %d 层")
	MaxResultsOutOfRange = problem("max-results-out-of-range",
		"max_results must be 1 to %d",
		"max_results 必须在 1 到 %d 之间")
	ContextLinesOutOfRange = problem("context-lines-out-of-range",
		"context_lines must be 0 to %d",
		"context_lines 必须在 0 到 %d 之间")
	NoSegmentNamed = problem("no-segment-named",
		"no segment %q",
		"没有片段 %q")
	SegmentRendersDifferently = problem("segment-renders-differently",
		"segment %s rendered again differs from what was folded: %d bytes instead of %d",
		"片段 %s 重新生成的内容与压缩时不同：%d 字节，应为 %d 字节")
	MalformedConversationID = problem("malformed-conversation-id",
		"malformed conversation id",
		"对话 id 格式不正确")
	PatternMustNotBeEmpty = problem("pattern-must-not-be-empty",
		"pattern must not be empty",
		"pattern 不能为空")
	PatternTooLong = problem("pattern-too-long",
		"pattern has %d characters, at most %d are allowed",
		"pattern 有 %d 个字符，最多允许 %d 个")
	PatternTooBig = problem("pattern-too-big",
		"pattern is too big: its repetitions multiply",
		"pattern 过大：其中的重复相乘")
	LinesOutOfRange = problem("lines-out-of-range",
		"lines must be 1 to %d",
		"lines 必须在 1 到 %d 之间")
	ByteLimitOutOfRange = problem("byte-limit-out-of-range",
		"limit must be 1 to %d bytes",
		"limit 必须在 1 到 %d 字节之间")
	OffsetMustNotBeNegative = problem("offset-must-not-be-negative",
		"offset must not be negative",
		"offset 不能为负数")
	OffsetPastEnd = problem("offset-past-end",
		"offset %d is past the end: %d bytes",
		"offset %d 超出末尾：共 %d 字节")
	NoSuchRenderer = problem("no-such-renderer",
		"segment %s: this program has no renderer %d",
		"片段 %s：本程序没有第 %d 版生成器")
	ArtifactBytesChanged = problem("artifact-bytes-changed",
		"the bytes of artifact %s are not those that were stored",
		"附件 %s 的字节与保存时不同")
)
