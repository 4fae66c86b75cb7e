package i18n

// Sentences about stores that meet.
var (
	SyncNeedsHTTPS = problem("sync-needs-https",
		"%s cannot be synced with: the address has to be https, or http on this machine",
		"%s 不是可以同步的地址：必须是 https，或者本机上的 http")
	SyncUnreachable = problem("sync-unreachable",
		"%s cannot be reached: %v",
		"无法连接 %s：%v")
	SyncStatus = problem("sync-status",
		"%s answers with %s",
		"%s 的回应是 %s")
	SyncRedirected = problem("sync-redirected",
		"%s leads on to %s, where the key is not sent: name that address if it is yours",
		"%s 转向 %s，密钥不会发到那里：如果那是您的地址，请直接使用它")
	SyncNotSpoken = problem("sync-not-spoken",
		"%s does not answer as a scrollback that syncs: %s",
		"%s 不是可以同步的 scrollback：它的回应是 %s")
	SyncProtocolDiffers = problem("sync-protocol-differs",
		"the other side syncs by protocol %s, and this one by %d: bring the older one up to date",
		"对方的同步协议是 %s，这一方是 %d：请更新较旧的一方")
	SyncUnknownQuestion = problem("sync-unknown-question",
		"there is no question %q in a sync",
		"同步中没有 %q 这个请求")
	SyncNotUnderstood = problem("sync-not-understood",
		"what the other side says is not understood: %v",
		"无法理解对方所说的内容：%v")
	SyncBatchTooLarge = problem("sync-batch-too-large",
		"one part of a sync has at most %d MiB",
		"同步的每一部分最多 %d MiB")
	SyncNoSSHAddress = problem("sync-no-ssh-address",
		"%q does not have the form ssh://user@host:port/folder",
		"%q 不是 ssh://user@host:port/folder 形式的地址")
	SyncNoSSH = problem("sync-no-ssh",
		"ssh cannot be started: %v",
		"无法启动 ssh：%v")
	SyncSSHFailed = problem("sync-ssh-failed",
		"ssh cannot get to %s: %s",
		"ssh 无法连接 %s：%s")
	SyncProgramMissing = problem("sync-program-missing",
		"there is no scrollback at %s: install it there, or set remote_program; it said: %s",
		"%s 上没有 scrollback：请在那里安装，或设置 remote_program；它的输出是：%s")
	SyncNoMark = problem("sync-no-mark",
		"scrollback does not begin to talk at %s (exit status %d); it said: %s",
		"%s 上的 scrollback 没有开始应答（退出状态 %d）；它的输出是：%s")
	SyncEnded = problem("sync-ended",
		"the connection has ended",
		"连接已结束")
)
