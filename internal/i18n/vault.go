package i18n

// Sentences about the remotes through which a person's machines meet.
var (
	VaultNoFolder = problem("vault-no-folder",
		"there is no folder %s: connect the disk it is on, or make it",
		"没有文件夹 %s：请连接它所在的磁盘，或创建该文件夹")
	VaultFolderFails = problem("vault-folder-fails",
		"the folder %s cannot be used: %v",
		"无法使用文件夹 %s：%v")
	VaultFolderHangs = problem("vault-folder-hangs",
		"the folder %s does not respond: what is in it is not here yet",
		"文件夹 %s 没有响应：其中的内容尚未到达本机")
	VaultCannotBeListed = problem("vault-cannot-be-listed",
		"what is in the remote cannot be listed, and without that it cannot be used: %w",
		"无法列出远端的内容，因此无法使用：%w")
	VaultListLacksMarker = problem("vault-list-lacks-marker",
		"the list of what is in the remote is not complete, so it cannot be used: its own mark is missing from it",
		"远端内容的列表不完整，因此无法使用：其中缺少它自身的标记")
	VaultIsNone = problem("vault-is-none",
		"there is no remote here yet: scrollback sync init makes one",
		"此处还没有远端：可用 scrollback sync init 创建")
	VaultIsGone = problem("vault-is-gone",
		"here was a remote, and there is none now: connect the disk it is on or correct its address; "+
			"scrollback sync init makes a new one",
		"此处曾有远端，现在没有了：请连接它所在的磁盘或更正地址；scrollback sync init 可创建新的远端")
	VaultIsAnother = problem("vault-is-another",
		"here is another remote than the one this machine knows: correct its address, or join this one with scrollback sync init",
		"此处的远端不是本机所知道的那个：请更正地址，或用 scrollback sync init 加入它")
	VaultIsThere = problem("vault-is-there",
		"here is a remote already, and nothing was changed: join it with its recovery phrase, "+
			"or have another machine add this one: scrollback sync add REMOTE %s",
		"此处已有远端，未作任何更改：请用恢复短语加入，或在另一台机器上添加本机：scrollback sync add REMOTE %s")
	VaultNotMember = problem("vault-not-member",
		"this machine is not one of this remote: join it with its recovery phrase, "+
			"or have another machine add this one: scrollback sync add REMOTE %s",
		"本机不属于此远端：请用恢复短语加入，或在另一台机器上添加本机：scrollback sync add REMOTE %s")
	VaultRemoved = problem("vault-removed",
		"this machine was removed from this remote; another machine can add it again: scrollback sync add REMOTE %s",
		"本机已从此远端移除；可在另一台机器上重新添加：scrollback sync add REMOTE %s")
	VaultKeysNotForUs = problem("vault-keys-not-for-us",
		"the keys of this remote were changed, and the new ones are not for this machine, so it writes nothing there: "+
			"sync one of the other machines, or add this one again: scrollback sync add REMOTE %s",
		"此远端的密钥已更换，本机没有新密钥，因此不会写入：请在其他机器上同步一次，或重新添加本机：scrollback sync add REMOTE %s")
	VaultKeysDamaged = problem("vault-keys-damaged",
		"a key list of this remote is damaged, so this machine writes nothing there until another one has synced: %s",
		"此远端的一个密钥列表已损坏，在其他机器同步之前，本机不会写入：%s")
	VaultKeysNotHere = problem("vault-keys-not-here",
		"a key list of this remote is not here yet, so this machine writes nothing there for now",
		"此远端的一个密钥列表尚未到达，因此本机暂不写入")
	VaultOtherProtocol = problem("vault-other-protocol",
		"this remote speaks protocol %d, and this program protocol %d: use the same version everywhere; nothing was changed",
		"此远端使用协议 %d，本程序使用协议 %d：请在各处使用相同版本；未作任何更改")
	VaultMarkerDamaged = problem("vault-marker-damaged",
		"what says that here is a remote is damaged: %s",
		"标明此处为远端的文件已损坏：%s")
	VaultPhraseMistyped = problem("vault-phrase-mistyped",
		"this is not a recovery phrase: it has %d groups of %d letters and digits; check it for typing errors",
		"这不是恢复短语：它由 %d 组、每组 %d 个字母或数字组成；请检查是否有输入错误")
	VaultPhraseWrong = problem("vault-phrase-wrong",
		"this recovery phrase does not open this remote",
		"此恢复短语无法打开该远端")
	VaultNameTaken = problem("vault-name-taken",
		"this remote has a machine named %s already: use another name",
		"此远端已有名为 %s 的机器：请使用其他名称")
	VaultNoSuchMachine = problem("vault-no-such-machine",
		"this remote has no machine %s",
		"此远端没有机器 %s")
	VaultNotItself = problem("vault-not-itself",
		"a machine does not remove itself: do it on another one",
		"机器不能移除自身：请在另一台机器上操作")
	VaultPublishAll = problem("vault-publish-all",
		"what this machine wrote to this remote is not there any more, and has to be written again as a whole",
		"本机写入此远端的内容已不存在，需要全部重新写入")
	VaultBatchTooLarge = problem("vault-batch-too-large",
		"something is larger than %d MB, which a remote does not take in one piece",
		"有一项内容大于 %d MB，远端无法一次接收")
	VaultArtifactTooLarge = problem("vault-artifact-too-large",
		"an artifact is larger than a remote takes",
		"附件大于远端所能接收的大小")
	VaultNoArtifact = problem("vault-no-artifact",
		"the artifact is not in this remote",
		"此远端没有该附件")
	VaultArtifactNotHere = problem("vault-artifact-not-here",
		"the artifact is not here yet",
		"该附件尚未到达")
	VaultObjectDamaged = problem("vault-object-damaged",
		"%s was changed, cut off or put in another's place, and is left out",
		"%s 已被更改、截断或替换，已略过")
	VaultObjectForeign = problem("vault-object-foreign",
		"%s is not of this remote, and is left out",
		"%s 不属于此远端，已略过")
	VaultObjectOfStranger = problem("vault-object-of-stranger",
		"%s was written by a machine that is not one of this remote, and is left out",
		"%s 由不属于此远端的机器写入，已略过")
	VaultObjectAfterRemoval = problem("vault-object-after-removal",
		"%s was written after its machine had been removed, or had not arrived by then, and is left out",
		"%s 在其机器被移除之后写入，或当时尚未到达，已略过")
)
