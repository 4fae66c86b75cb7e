package i18n

// Sentences of errors of bundles.
var (
	BundleDamaged = problem("bundle-damaged",
		"the bundle is damaged: %s",
		"bundle 已损坏：%s")
	BundleTooLarge = problem("bundle-too-large",
		"the bundle is too large: %s",
		"bundle 过大：%s")
	BundleHoldsNoPlainFile = problem("bundle-holds-no-plain-file",
		"the bundle holds %q, which is not a plain file",
		"bundle 中有 %q，它不是普通文件")
	BundleHoldsStranger = problem("bundle-holds-stranger",
		"the bundle holds %q, which does not belong there",
		"bundle 中有不应出现的 %q")
	NotABundle = problem("not-a-bundle",
		"the file is not a scrollback bundle, or its beginning is damaged",
		"此文件不是 scrollback 的 bundle，或开头已损坏")
	BundleTooNew = problem("bundle-too-new",
		"the bundle has version %d, and this program reads up to version %d: a newer one is needed",
		"此 bundle 是第 %d 版，本程序最高只能读取第 %d 版：需要更新的版本")
	BundleRendererTooNew = problem("bundle-renderer-too-new",
		"segment %s was written by renderer %d, which this program does not have: a newer one is needed",
		"片段 %s 由第 %d 版生成器写出，本程序没有它：需要更新的版本")
)
