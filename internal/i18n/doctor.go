package i18n

// What doctor finds.
var (
	_ = note("doctor-of-are-on-no-branch-of-a-conversation",
		"%d of %d are on no branch of a conversation",
		"%d 条（共 %d 条）不在任何对话的分支上")
	_ = note("doctor-have-no-hash-yet",
		"%d have no hash yet; a running server makes them, and so does a repair",
		"%d 条还没有校验值；运行中的服务器会生成，修复时也会生成")
	_ = note("doctor-have-their-vectors",
		"%d have their vectors by %s; a running server makes the rest",
		"%d 条已有 %s 的向量；其余的由运行中的服务器生成")
	_ = note("doctor-branches-say-the-same-masked",
		"%d of its branches say what others say, with secrets masked: it was imported with masks and without",
		"它有 %d 个分支与别的分支说的相同，只是遮盖了密钥：它既遮盖着导入过，也原样导入过")
	_ = note("doctor-its-purge-was-interrupted",
		"its purge was interrupted",
		"它的清除被中断")
	_ = note("doctor-its-current-branch-is-missing",
		"its current branch, %s, is missing",
		"缺少它的当前分支 %s")
	_ = note("doctor-it-counts-messages-its-branch",
		"it counts %d messages, its branch %d",
		"它计为 %d 条消息，其分支为 %d 条")
	_ = note("doctor-it-hides-up-to-and-ends-at",
		"it hides up to #%d, and ends at #%d",
		"它隐藏到 #%d，而止于 #%d")
	_ = note("doctor-it-shows-segment",
		"it shows segment %s: %s",
		"它显示片段 %s：%s")
	_ = note("doctor-it-shows-the-summary-of-segment",
		"it shows the summary of segment %s: %s",
		"它显示片段 %s 的摘要：%s")
	_ = note("doctor-it-says-that-it-ends-at",
		"it says that it ends at #%d; its last message is #%d",
		"它记为止于 #%d；最后一条消息是 #%d")
	_ = note("doctor-it-says-that-its-path-weighs",
		"it says that its path weighs %v; its messages add up to %v",
		"它记录的路径总量为 %v；各消息合计为 %v")
	_ = note("doctor-it-says-that-its-path-weighs-with-what-is-before",
		"it says that its path weighs %v; with what is before, it adds up to %v",
		"它记录的路径总量为 %v；连同之前的合计为 %v")
	_ = note("doctor-comes-after",
		"#%d comes after #%d",
		"#%d 排在 #%d 之后")
	_ = note("doctor-it-says-that-it-belongs-to-conversation",
		"it says that it belongs to conversation %s",
		"它记为属于对话 %s")
	_ = note("doctor-it-mentions-an-unknown-artifact",
		"it mentions an unknown artifact, %s",
		"它提到未知的附件 %s")
	_ = note("doctor-it-cannot-be-read",
		"it cannot be read: %s",
		"无法读取：%s")
	_ = note("doctor-it-has-not-forgotten-the-words-of-messages-that-were-purged",
		"it has not forgotten the words of %d messages that were purged",
		"它仍保留着 %d 条已清除消息的词语")
	_ = note("doctor-its-file-rendered-again-has-bytes-and-sha",
		"its file, rendered again, has %d bytes and SHA-256 %s; it was made with %d bytes, %s",
		"它的文件重新生成后有 %d 字节，SHA-256 为 %s；生成时为 %d 字节，%s")
	_ = note("doctor-it-covers-to-and-says-that-those-are-messages",
		"it covers #%d to #%d, and says that those are %d messages",
		"它涵盖 #%d 到 #%d，却记为 %d 条消息")
	_ = note("doctor-what-it-covers-cannot-be-read",
		"what it covers cannot be read: %s",
		"无法读取它涵盖的内容：%s")
	_ = note("doctor-its-messages-have-the-hash",
		"its messages have the hash %s; it was made with %s",
		"其消息的校验值为 %s；生成时为 %s")
	_ = note("doctor-its-children-cannot-be-read",
		"its children cannot be read: %s",
		"无法读取它的下级片段：%s")
	_ = note("doctor-its-children-have-the-hash",
		"its children have the hash %s; it was made with %s",
		"其下级片段的校验值为 %s；生成时为 %s")
	_ = note("doctor-its-file-cannot-be-made",
		"its file cannot be made: %s",
		"无法生成它的文件：%s")
	_ = note("doctor-its-bytes-cannot-be-read",
		"its bytes cannot be read: %s",
		"无法读取它的字节：%s")
	_ = note("doctor-its-bytes-have-the-sha",
		"its bytes have the SHA-256 %s",
		"其字节的 SHA-256 为 %s")
	_ = note("doctor-it-has-bytes-instead-of",
		"it has %d bytes instead of %d",
		"它有 %d 字节，应为 %d 字节")
	_ = note("doctor-no-conversation-mentions-it",
		"no conversation mentions it",
		"没有对话提到它")
	_ = note("doctor-no-artifact-is-known-by-it",
		"no artifact is known by it",
		"没有与之对应的附件")
	_ = note("doctor-its-numbers-cannot-be-those-of-a-call",
		"its numbers cannot be those of a call",
		"其中的数字不可能属于一次调用")
	_ = note("doctor-it-has-numbers-that-cannot-be",
		"it has numbers that cannot be",
		"其中有不可能的数字")
	_ = note("doctor-its-sum-differs-from-its-records",
		"it has %s; its records come to %s",
		"它记为 %s；其记录合计为 %s")
	_ = note("doctor-usage",
		"%d calls (%d estimated), %d tokens in (%d cached, %d written) and %d out (%d of reasoning), %d in all, for %g",
		"%d 次调用（估算 %d 次），输入 %d token（缓存 %d，写入 %d），输出 %d（推理 %d），共 %d，费用 %g")
	_ = note("doctor-it-is-not-as-it-was-stored",
		"it is not as it was stored: its row has another hash",
		"与存入时不同：该行的校验值变了")
	_ = note("doctor-meta-is-not-json",
		"a stored column is damaged: meta is not JSON",
		"存储的列已损坏：meta 不是 JSON")
	_ = note("doctor-how-far-it-reaches-is-lost",
		"how far it reaches is lost",
		"已丢失它建到何处的记录")
	_ = note("doctor-rows-of-no-segment",
		"rows of %s are of no segment",
		"%s 中有行不属于任何片段")
	_ = note("doctor-its-rows-do-not-belong-together",
		"its rows do not belong together",
		"它的各行彼此不符")
	_ = note("doctor-it-has-documents-of-no-message",
		"it has documents that are of no message, and were not purged",
		"其中有文档不属于任何消息，也未被清除")
	_ = note("doctor-search-does-not-find-it",
		"search does not find it",
		"搜索找不到它")
	_ = note("doctor-search-takes-it-for-another",
		"search takes it for %s; it is %s",
		"搜索把它当作 %s；实为 %s")
	_ = note("doctor-its-owner-is-gone",
		"its owner is gone; the next turn of conversation %s closes it and keeps its draft",
		"其所有者已不在；对话 %s 的下一回合会将它关闭，并保留其草稿")
)

// What is wrong with the place where a branch leaves its parent.
var (
	_ = problem("branch-it-leaves-at-and-has-no-parent",
		"it leaves at #%d, and has no parent",
		"它在 #%d 处分出，却没有上级")
	_ = problem("branch-its-path-ends-above",
		"its path ends above #%d",
		"它的路径在 #%d 之前就结束了")
	_ = problem("branch-its-path-comes-back-to-branch",
		"its path comes back to branch %s",
		"它的路径又回到分支 %s")
	_ = problem("branch-its-parent-branch-is-missing",
		"its parent, branch %s, is missing",
		"缺少它的上级分支 %s")
	_ = problem("branch-it-leaves-branch-at-which-ends-at",
		"it leaves branch %s at #%d, which ends at #%d",
		"它在 #%[2]d 处离开分支 %[1]s，而该分支止于 #%[3]d")
	_ = problem("branch-branch-has-no-message-to-leave-at",
		"branch %s has no message #%d to leave at",
		"分支 %s 没有可分出的消息 #%d")
)
