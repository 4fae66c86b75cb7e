package i18n

// Sentences of errors of compaction.
var (
	SegmentNotInMemory = problem("segment-not-in-memory",
		"segment %s is not in memory",
		"片段 %s 不在内存中")
	AfterShareAboveTrigger = problem("after-share-above-trigger",
		"after_share (%v) must be less than trigger_share (%v): a compaction must bring the window under its trigger",
		"after_share（%v）必须小于 trigger_share（%v）：压缩后窗口必须低于触发值")
	TriggerLimitShareBelowAfterShare = problem("trigger-limit-share-below-after-share",
		"trigger_limit_share (%v) is less than after_share (%v): every request would be compacted",
		"trigger_limit_share（%v）小于 after_share（%v）：每个请求都会被压缩")
	SummaryAndPlaceholdersShareTooLarge = problem("summary-and-placeholders-share-too-large",
		"summary_share (%v) and placeholders_share (%v) are at most %v together",
		"summary_share（%v）与 placeholders_share（%v）合计最多为 %v")
	SummaryAndPlaceholderShareTooLarge = problem("summary-and-placeholder-share-too-large",
		"summary_share (%v) and placeholder_share (%v) for each of two placeholders are at most %v together",
		"summary_share（%v）与两个占位符各自的 placeholder_share（%v）合计最多为 %v")
	KeptMessagesAboveTrigger = problem("kept-messages-above-trigger",
		"keep_messages and new_messages (%d) are more than trigger_messages (%d)",
		"keep_messages 与 new_messages 之和（%d）大于 trigger_messages（%d）")
	UnknownPolicyNumber = problem("unknown-policy-number",
		"unknown number %q%s (%s)",
		"未知的数值 %q%s（%s）")
	PolicyNumberOutOfRange = problem("policy-number-out-of-range",
		"%s is %s from %v to %s, not %v",
		"%s 是%s，范围从 %v 到 %s，不能是 %v")
	UnknownPolicy = problem("unknown-policy",
		"unknown policy %q (%s)",
		"未知的压缩策略 %q（%s）")
	SummaryWasAskedForAlready = problem("summary-was-asked-for-already",
		"a model was asked already by an earlier compaction of this request",
		"这次请求先前的压缩已经请模型写过摘要")
	NoSummaryCameInTime = problem("no-summary-came-in-time",
		"no summary came in time",
		"没有及时得到摘要")
	StreamWasCutOff = problem("stream-was-cut-off",
		"the stream was cut off",
		"数据流中断")
)
