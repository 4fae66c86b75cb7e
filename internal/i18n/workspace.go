package i18n

// Sentences of errors of folders.
var (
	RootMustBeAbsolute = problem("root-must-be-absolute",
		"%s: a root is an absolute path",
		"%s：根目录必须是绝对路径")
	NoSuchFolder = problem("no-such-folder",
		"%s: no such folder",
		"%s：没有这个文件夹")
	IsNotAFolder = problem("is-not-a-folder",
		"%s is not a folder",
		"%s 不是文件夹")
	OutsideGrantedFolders = problem("outside-granted-folders",
		"%s is outside the folders that were granted",
		"%s 不在已授权的文件夹内")
	RootNeedsName = problem("root-needs-name",
		"a root needs the name of a folder",
		"根目录需要文件夹的名称")
)
