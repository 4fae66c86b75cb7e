package i18n

// Sentences of errors of bundles.
var (
	BundleDamaged = problem("bundle-damaged",
		"the bundle is damaged: %s",
		"对话包已损坏：%s")
	BundleTooLarge = problem("bundle-too-large",
		"the bundle is too large: %s",
		"对话包过大：%s")
	BundleHoldsNoPlainFile = problem("bundle-holds-no-plain-file",
		"the bundle holds %q, which is not a plain file",
		"对话包中有 %q，它不是普通文件")
	BundleHoldsStranger = problem("bundle-holds-stranger",
		"the bundle holds %q, which does not belong there",
		"对话包中有不应出现的 %q")
	NotABundle = problem("not-a-bundle",
		"the file is not a scrollback bundle, or its beginning is damaged",
		"此文件不是 scrollback 的对话包，或开头已损坏")
	BundleTooNew = problem("bundle-too-new",
		"the bundle has version %d, and this program reads up to version %d: a newer one is needed",
		"此对话包是第 %d 版，本程序最高只能读取第 %d 版：需要更新的版本")
	BundleRendererTooNew = problem("bundle-renderer-too-new",
		"segment %s was written by renderer %d, which this program does not have: a newer one is needed",
		"片段 %s 由第 %d 版生成器写出，本程序没有它：需要更新的版本")
)

// What is wrong with a bundle, which is said behind BundleDamaged and BundleTooLarge.
var (
	_ = problem("bundle-it-was-cut-off-or-changed-its-seal-does",
		"it was cut off or changed: its seal does not match",
		"被截断或更改：封印不符")
	_ = problem("bundle-branch",
		"branch %q %s",
		"分支 %q %s")
	_ = problem("bundle-segment",
		"segment %q %s",
		"片段 %q %s")
	_ = problem("bundle-segment-does-not-hold-segment",
		"segment %s does not hold segment %q",
		"片段 %s 不含片段 %q")
	_ = problem("bundle-its-segments-hold-more-than-segments",
		"its segments hold more than %d segments",
		"其片段包含的片段超过 %d 个")
	_ = problem("bundle-segment-does-not-match-the-segments-that-it-holds",
		"segment %s does not match the segments that it holds",
		"片段 %s 与它包含的片段不符")
	_ = problem("bundle-segment-covers-more-than-its-branch-has",
		"segment %s covers more than its branch has",
		"片段 %s 涵盖的内容超出其分支")
	_ = problem("bundle-segment-is-of-a-branch-that-does-not-exist",
		"segment %s is of a branch that does not exist",
		"片段 %s 属于不存在的分支")
	_ = problem("bundle-the-file-of-segment-is-not-the-one-that",
		"the file of segment %s is not the one that was folded",
		"片段 %s 的文件不是压缩时的那一个")
	_ = problem("bundle-is-not-the-file-of-its-segment",
		"%q is not the file of its segment",
		"%q 不是其片段的文件")
	_ = problem("bundle-conversation-inherits-from-more-than-others",
		"conversation %s inherits from more than %d others",
		"对话 %s 继承自超过 %d 个对话")
	_ = problem("bundle-what-conversation-says-of-itself-has-bytes-at-most",
		"what conversation %s says of itself has %d bytes, at most %d are taken",
		"对话 %s 的自述有 %d 字节，最多接受 %d 字节")
	_ = problem("bundle-conversation-is-only-inherited-from-but-says-more-about",
		"conversation %s is only inherited from, but says more about itself than its id",
		"对话 %s 只被继承，却不只写明了 id")
	_ = problem("bundle-branch-has-an-impossible-view",
		"branch %s has an impossible view",
		"分支 %s 的视图不可能存在")
	_ = problem("bundle-segment-covers-more-than-bytes",
		"segment %s covers more than %d bytes",
		"片段 %s 涵盖超过 %d 字节")
	_ = problem("bundle-segment-does-not-match-the-messages-it-covers",
		"segment %s does not match the messages it covers",
		"片段 %s 与它涵盖的消息不符")
	_ = problem("bundle-the-bytes-of-artifact-are-missing",
		"the bytes of artifact %q are missing",
		"缺少附件 %q 的字节")
	_ = problem("bundle-artifact-is-mentioned-twice",
		"artifact %s is mentioned twice",
		"附件 %s 出现了两次")
	_ = problem("bundle-a-conversation-inherits-from-more-than-others",
		"a conversation inherits from more than %d others",
		"有对话继承自超过 %d 个对话")
	_ = problem("bundle-has-bytes-at-most-are-taken",
		"%q has %d bytes, at most %d are taken",
		"%q 有 %d 字节，最多接受 %d 字节")
	_ = problem("bundle-has-bytes-at-most-are-taken-2",
		"%s has %d bytes, at most %d are taken",
		"%s 有 %d 字节，最多接受 %d 字节")
	_ = problem("bundle-belongs-to-conversation",
		"%q belongs to conversation %q",
		"%q 属于对话 %q")
	_ = problem("bundle-it-unpacks-to-more-than-bytes-for-each-of",
		"it unpacks to more than %d bytes for each of its %d",
		"每字节解压后超过 %d 字节（共 %d 字节）")
	_ = problem("bundle-it-says-that-it-has-version",
		"it says that it has version %d",
		"它自称是第 %d 版")
	_ = problem("bundle-conversation-has-no-branch",
		"conversation %s has no branch",
		"对话 %s 没有分支")
	_ = problem("bundle-the-current-branch-of-conversation-is-missing",
		"the current branch of conversation %s is missing",
		"缺少对话 %s 的当前分支")
	_ = problem("bundle-conversation-inherits-from-one-that-no-branch-of-it",
		"conversation %s inherits from one that no branch of it comes from",
		"对话 %s 继承自与其分支无关的对话")
	_ = problem("bundle-conversation-has-more-messages-than-its-branches",
		"conversation %s has more messages than its branches",
		"对话 %s 的消息多于其分支")
	_ = problem("bundle-of-branch-is-in-the-place-of-of-branch",
		"#%d of branch %q is in the place of #%d of branch %s",
		"分支 %[2]q 的第 %[1]d 条消息占了分支 %[4]s 第 %[3]d 条消息的位置")
	_ = problem("bundle-message-cannot-be-read",
		"message %s cannot be read",
		"无法读取消息 %s")
	_ = problem("bundle-message",
		"message %q (#%d) %s",
		"消息 %q（#%d）%s")
	_ = problem("bundle-a-receipt-is-of-branch-which-does-not-exist",
		"a receipt is of branch %q, which does not exist",
		"有压缩记录属于不存在的分支 %q")
	_ = problem("bundle-it-says-what-is-kept-which-version-does-not-know",
		"it says what is kept, which version %d does not know",
		"其中有保留内容，而版本 %d 没有这种内容")
	_ = problem("bundle-what-is-kept-as-is-of-no-message-in-the-bundle",
		"what is kept as %q is of no message in the bundle",
		"保留内容 %q 不属于对话包中的任何消息")
	_ = problem("bundle-what-is-kept-as-does-not-fit-together",
		"what is kept as %q does not fit together",
		"保留内容 %q 前后不一致")
	_ = problem("bundle-message-does-not-say-what-is-kept-of-it-as",
		"message #%d does not say what is kept of it as %q",
		"消息 #%d 中没有保留内容 %q 的原句")
	_ = problem("bundle-it-would-have-more-than-entries",
		"it would have more than %d entries",
		"条目将超过 %d 个")
	_ = problem("bundle-it-would-have-more-than-bytes",
		"it would have more than %d bytes",
		"将超过 %d 字节")
	_ = problem("bundle-cannot-be-read",
		"%s cannot be read",
		"无法读取 %s")
	_ = problem("bundle-cannot-be-read-2",
		"%q cannot be read",
		"无法读取 %q")
	_ = problem("bundle-line-of-is-cut-off",
		"line %d of %q is cut off",
		"%[2]q 的第 %[1]d 行不完整")
	_ = problem("bundle-its-manifest-lists-entries-and-there-are",
		"its manifest lists %d entries, and there are %d",
		"清单列出 %d 个条目，实有 %d 个")
	_ = problem("bundle-does-not-match-the-manifest",
		"%q does not match the manifest",
		"%q 与清单不符")
	_ = problem("bundle-something-comes-after-its-manifest",
		"something comes after its manifest",
		"清单之后还有内容")
	_ = problem("bundle-something-comes-after-its-end",
		"something comes after its end",
		"末尾之后还有内容")
	_ = problem("bundle-it-ends-before-its-manifest",
		"it ends before its manifest",
		"在清单之前就结束了")
	_ = problem("bundle-the-tar-cannot-be-read",
		"the tar inside cannot be read",
		"无法读取其中的 tar")
	_ = problem("bundle-it-has-more-than-entries",
		"it has more than %d entries",
		"条目超过 %d 个")
	_ = problem("bundle-it-has-more-than-bytes",
		"it has more than %d bytes",
		"超过 %d 字节")
	_ = problem("bundle-artifact-has-the-sha-256",
		"artifact %s has the SHA-256 %s",
		"附件 %s 的 SHA-256 为 %s")
	_ = problem("bundle-it-has-more-than-branches-segments-artifacts-and-receipts",
		"it has more than %d branches, segments, artifacts and receipts",
		"分支、片段、附件和压缩记录超过 %d 个")
	_ = problem("bundle-conversation-inherits-from-others-than-those-before-it",
		"conversation %s inherits from others than those before it",
		"对话 %s 继承自排在它之后的对话")
	_ = problem("bundle-conversation-is-not-the-one-in-the-bundle-s",
		"conversation %s is not the one in the bundle's header",
		"对话 %s 不是对话包开头所写的对话")
	_ = problem("bundle-branch-ends-with-instead-of",
		"branch %s ends with #%d instead of #%d",
		"分支 %s 止于 #%d，应止于 #%d")
	_ = problem("bundle-conversation-pins-message",
		"conversation %s pins message %d",
		"对话 %s 固定了消息 %d")
	_ = problem("bundle-the-draft-of-conversation-is-of-no-turn-of",
		"the draft of conversation %s is of no turn of its own",
		"对话 %s 的草稿不属于它的任何回合")
	_ = problem("bundle-the-exported-conversation-is-not-the-last-one",
		"the exported conversation is not the last one",
		"导出的对话不是最后一个")
	_ = problem("bundle-its-conversations-do-not-match-the-manifest",
		"its conversations do not match the manifest",
		"其中的对话与清单不符")
	_ = problem("bundle-branch-ends-with-and-the-path-leaves-it-at",
		"branch %s ends with #%d, and the path leaves it at #%d",
		"分支 %s 止于 #%d，而路径在 #%d 处离开它")
	_ = problem("bundle-artifact-is-mentioned-nowhere",
		"artifact %s is mentioned nowhere",
		"没有任何地方提到附件 %s")
)

// What is wrong with a branch, a segment or a message of a bundle, which is said behind its id.
var (
	RecordHasMalformedID = problem("record-has-malformed-id",
		"has a malformed id",
		"的 id 格式不对")
	RecordIsListedTwice = problem("record-is-listed-twice",
		"is listed twice",
		"被列出两次")
	RecordBelongsElsewhere = problem("record-belongs-elsewhere",
		"belongs to another conversation",
		"属于另一个对话")
	BranchEndsBeforeBeginning = problem("branch-ends-before-beginning",
		"ends before it begins",
		"在开始之前就结束了")
	BranchHasNoParent = problem("branch-has-no-parent",
		"continues one that is not there",
		"接续的分支不存在")
	BranchLeavesNowhere = problem("branch-leaves-nowhere",
		"leaves its parent at a message that is not there",
		"在不存在的消息处离开上级分支")
	SegmentCoversOtherMessages = problem("segment-covers-other-messages",
		"does not cover what it says",
		"涵盖的内容与所写的不符")
	SegmentCannotBeMade = problem("segment-cannot-be-made",
		"could not have been made",
		"不可能这样生成")
	SegmentHasNoHashes = problem("segment-has-no-hashes",
		"has no hashes",
		"没有校验值")
	SegmentIsImpossible = problem("segment-is-impossible",
		"says something impossible about itself",
		"所写的自身信息不可能成立")
	MessageHasUnknownRole = problem("message-has-unknown-role",
		"has an unknown role",
		"的角色未知")
	MessageHasUnknownStatus = problem("message-has-unknown-status",
		"has an unknown status",
		"的状态未知")
	MessageHasNoTime = problem("message-has-no-time",
		"has no time",
		"没有时间")
	MessageNamesNoArtifact = problem("message-names-no-artifact",
		"names an artifact that is not there",
		"提到不存在的附件")
	MessageImageAddressImpossible = problem("message-image-address-impossible",
		"has an image at an address that cannot be",
		"有图片的地址不可能成立")
	MessageImageSizeDiffers = problem("message-image-size-differs",
		"has an image of another size than its artifact",
		"有图片与其附件大小不同")
	MessageFileSizeDiffers = problem("message-file-size-differs",
		"has a file of another size than its artifact",
		"有文件与其附件大小不同")
)
