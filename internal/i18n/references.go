package i18n

// What is stored with the references of a prompt.
var (
	_ = note("reference-remote-images-are-not-allowed",
		"refused: remote images are not allowed",
		"已拒绝：不允许远程图片")
	_ = note("reference-recall-tools-cannot-be-run-here",
		"refused: recall tools cannot be run here",
		"已拒绝：这里不能运行查阅工具")
	_ = note("reference-arguments-are-not-json",
		"its arguments are not JSON",
		"它的参数不是 JSON")
	_ = note("reference-not-found",
		"not found",
		"找不到")
	_ = note("reference-not-regular-file",
		"not a regular file",
		"不是普通文件")
	_ = note("reference-not-readable",
		"not readable",
		"无法读取")
	_ = note("reference-not-readable-2",
		"not readable: permission denied",
		"无法读取：没有权限")
	_ = note("reference-not-readable-3",
		"not readable: %s",
		"无法读取：%s")
	_ = note("reference-folder-has-no-lines",
		"a folder has no lines",
		"文件夹没有行号")
	_ = note("reference-image-has-no-lines",
		"an image has no lines",
		"图片没有行号")
	_ = note("reference-binary-file",
		"a binary file of %s",
		"二进制文件，共 %s")
	_ = note("reference-these-lines-are-not-text",
		"these lines are not text",
		"这些行不是文本")
	_ = note("reference-not-utf8-text",
		"not UTF-8 text: the byte 0x%02x in line %d",
		"不是 UTF-8 文本：有字节 0x%02x，在第 %d 行")
	_ = note("reference-lines-to-are-in-reverse",
		"lines %d to %d are in reverse",
		"第 %d 行到第 %d 行的顺序颠倒")
	_ = note("reference-line-is-past-end",
		"line %d is past the end: the file has 1 line",
		"第 %d 行超出末尾：文件只有 1 行")
	_ = note("reference-line-is-past-end-2",
		"line %d is past the end: the file has %d lines",
		"第 %d 行超出末尾：文件共 %d 行")
	_ = note("reference-entries",
		"cut: %d of %s entries",
		"已截断：列出 %d 项，共 %s 项")
	_ = note("reference-first-bytes",
		"cut: the first %d of %d bytes",
		"已截断：前 %d 字节，共 %d 字节")
	_ = note("reference-cut-in-line",
		"cut in line %d: at most %s are read",
		"在第 %d 行截断：最多读取 %s")
	_ = note("reference-too-large",
		"too large: %s, and at most %s are read",
		"太大：%s，最多读取 %s")
	_ = note("reference-name-lines",
		"name lines of it, as in @[path:1:200]",
		"请指明行号，如 @[路径:1:200]")
	_ = note("reference-too-large-2",
		"too large: line %d is not within its first %s",
		"太大：第 %d 行不在前 %s 之内")
	_ = note("reference-too-large-3",
		"too large: %s, and of the %s for all references %s are left",
		"太大：%s，所有引用共 %s，还剩 %s")
	_ = note("reference-too-large-4",
		"too large: %s, and an image has at most %s",
		"太大：%s，图片最大 %s")
	_ = note("reference-too-large-5",
		"too large: a data URL of %s, and an image has at most %s",
		"太大：data URL 为 %s，图片最大 %s")
	_ = note("reference-too-large-6",
		"too large: an image has at most %s",
		"太大：图片最大 %s")
	_ = note("reference-not-data-url",
		"not a data URL",
		"不是 data URL")
	_ = note("reference-not-image-model-can-be-shown",
		"not an image that a model can be shown (PNG, JPEG, GIF or WebP)",
		"不是可以给模型看的图片（PNG、JPEG、GIF 或 WebP）")
	_ = note("reference-not-image",
		"not an image: a folder",
		"不是图片：是文件夹")
	_ = note("reference-not-image-2",
		"not an image: an empty file",
		"不是图片：文件为空")
	_ = note("reference-left-out",
		"left out: the limit of images is %d",
		"未发送：最多发送 %d 张图片")
	_ = note("reference-left-out-2",
		"left out: the images of a prompt have at most %s",
		"未发送：一次提问的图片共最多 %s")
	_ = note("reference-left-out-3",
		"left out: the limit of references is %d",
		"未读取：最多读取 %d 个引用")
	_ = note("reference-left-out-with-more",
		"left out, with %d more: the limit of references is %d",
		"未读取，另有 %d 个也未读取：最多读取 %d 个引用")
	_ = note("reference-leads-back-to-and-is-not-followed",
		"a circle: @[%s] leads back to %s and is not followed",
		"循环引用：@[%s] 又指回 %s，未再读取")
	_ = note("reference-own-references-are-not-followed",
		"its own references are not followed: more than %d deep",
		"其中的引用未读取：层数超过 %d")
)

// Why a notebook may not use a folder that it asks for.
var (
	_ = note("folder-is-not-folder-machine",
		"it is not a folder of this machine",
		"它不是本机的文件夹")
	_ = note("folder-there-is-no-such-folder",
		"there is no such folder",
		"没有这个文件夹")
	_ = note("folder-is-outside-folders-were-granted",
		"it is outside the folders that were granted",
		"它在已授权的文件夹之外")
	_ = note("folder-only-what-was-granted-in-can-be-used",
		"only what was granted in it can be used",
		"只能使用其中已授权的部分")
)
