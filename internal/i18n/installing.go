package i18n

// Sentences of setting agents up.
var (
	InstallNoFile = problem("install-no-file",
		"%s is no file",
		"%s 不是文件")
	InstallTooLarge = problem("install-too-large",
		"%s is too large for a file of settings",
		"%s 太大，不像设置文件")
	InstallFileFault = problem("install-file-fault",
		"%s: %v",
		"%s：%v")
	InstallReadOnly = problem("install-read-only",
		"%s may not be written by its owner, and stays",
		"%s 的所有者没有写入权限，保持不变")
	InstallNewerRecord = problem("install-newer-record",
		"%s was written by a newer scrollback",
		"%s 由更新版本的 scrollback 写入")
	InstallBusy = problem("install-busy",
		"another install or uninstall is at work on %s",
		"另一个 install 或 uninstall 正在处理 %s")
	InstallNotOurs = note("install-not-ours",
		"somebody else wrote it",
		"由他人写入")
	InstallChangedByOthers = note("install-changed-by-others",
		"somebody changed it since",
		"之后被他人更改")
	InstallServerKept = note("install-server-kept",
		"a server scrollback that somebody else wrote is there, and stays",
		"已有他人写入的 scrollback 服务器，予以保留")
)
