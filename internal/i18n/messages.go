package i18n

// Sentences of errors of what a message may hold.
var (
	ArtifactIsNotText = problem("artifact-is-not-text",
		"artifact %s is not text",
		"附件 %s 不是文本")
	AttachmentTooLarge = problem("attachment-too-large",
		"an attachment has at most %d bytes (limits.attachment_bytes)",
		"一个附件最多 %d 字节（limits.attachment_bytes）")
	ImageTooLarge = problem("image-too-large",
		"an image has at most %d bytes (limits.attachment_bytes)",
		"一张图片最多 %d 字节（limits.attachment_bytes）")
	ImageFailed = problem("image-failed",
		"image %s: %w",
		"图片 %s：%w")
	ImageDetailIsOneOf = problem("image-detail-is-one-of",
		"the detail of an image is low, high or auto, not %.40q",
		"图片的 detail 是 low、high 或 auto，不能是 %.40q")
	ImageAddressesNotAllowed = problem("image-addresses-not-allowed",
		"images at addresses are not allowed here (remote_images)",
		"这里不允许使用网址图片（remote_images）")
	ImageHasArtifactOrAddress = problem("image-has-artifact-or-address",
		"an image has an artifact or an address, not both",
		"一张图片只能有附件或地址之一")
	ImageAddressInvalid = problem("image-address-invalid",
		"the address of an image is an http or https address of at most %d characters, without a password",
		"图片的地址必须是不含密码、最多 %d 个字符的 http 或 https 地址")
	MessageTooLong = problem("message-too-long",
		"the message has %d characters, at most %d are taken (limits.message_chars)",
		"消息有 %d 个字符，最多接受 %d 个（limits.message_chars）")
	MessageFailed = problem("message-failed",
		"message %d: %w",
		"第 %d 条消息：%w")
	NameIsReserved = problem("name-is-reserved",
		"message %d: the name %s is reserved",
		"第 %d 条消息：名称 %s 是保留的")
	MessageHasTooManyParts = problem("message-has-too-many-parts",
		"message %d (%s) has %d parts; 1 to %d are taken",
		"第 %d 条消息（%s）有 %d 个部分，接受 1 到 %d 个")
	ReferenceIsSetByServer = problem("reference-is-set-by-server",
		"part %d: a reference is set by the server, and cannot be sent",
		"第 %d 部分：引用由服务器生成，不能由请求发送")
	UserMessageHoldsOnly = problem("user-message-holds-only",
		"part %d: a user's message holds text, images and files",
		"第 %d 部分：用户消息只包含文本、图片和文件")
	MessageIsEmpty = problem("message-is-empty",
		"the message is empty",
		"消息为空")
	TooManyParts = problem("too-many-parts",
		"a message has at most %d parts (limits.parts)",
		"一条消息最多有 %d 个部分（limits.parts）")
	MessageIsNotUTF8 = problem("message-is-not-utf8",
		"the message is not UTF-8",
		"消息不是 UTF-8")
	ImageDecodesTooLong = problem("image-decodes-too-long",
		"the image takes too long to decode",
		"解码这张图片耗时过长")
	ImageHasNoSize = problem("image-has-no-size",
		"the image is damaged: it has no size",
		"图片已损坏：没有尺寸")
	ImageHasTooManyPixels = problem("image-has-too-many-pixels",
		"the image claims %d×%d pixels; at most %d million are read",
		"图片声称有 %d×%d 像素；最多读取 %d 百万像素")
	ImageEndsEarly = problem("image-ends-early",
		"the image is damaged: it ends too early",
		"图片已损坏：内容不完整")
	ImageCannotShrink = problem("image-cannot-shrink",
		"the image cannot be made small enough",
		"图片无法缩得足够小")
	AnimatedWebPCannotShrink = problem("animated-web-p-cannot-shrink",
		"an animated WebP image cannot be scaled down",
		"动态 WebP 图片不能缩小")
	ImageDamaged = problem("image-damaged",
		"the image is damaged: %s",
		"图片已损坏：%s")
	NotAnImage = problem("not-an-image",
		"not an image: it is %s; models see PNG, JPEG, GIF and WebP",
		"不是图片：内容是 %s；模型能查看 PNG、JPEG、GIF 和 WebP")
	ImageTooLargeToShrink = problem("image-too-large-to-shrink",
		"the image of %d×%d pixels is too large to be scaled down",
		"%d×%d 像素的图片太大，无法缩小")
)
