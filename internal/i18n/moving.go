package i18n

// Sentences of errors of a store that is moved.
var (
	NoDatabaseAt = problem("no-database-at",
		"there is no database at %s",
		"%s 处没有数据库")
	FlagIsDatabaseURL = problem("flag-is-database-url",
		"--%s is sqlite:///PATH or postgres://USER:PASSWORD@HOST/DATABASE",
		"--%s 应为 sqlite:///PATH 或 postgres://USER:PASSWORD@HOST/DATABASE")
	ObjectsFromWithoutObjectsTo = problem("objects-from-without-objects-to",
		"--objects-from without --objects-to: name where the objects go",
		"只有 --objects-from 而没有 --objects-to：请指定附件复制到哪里")
	ObjectsToWithoutObjectsFrom = problem("objects-to-without-objects-from",
		"--objects-to without --objects-from: name where the objects are",
		"只有 --objects-to 而没有 --objects-from：请指定附件在哪里")
	ObjectsThatLast = problem("objects-that-last",
		"objects that last are in s3://BUCKET or file:///FOLDER",
		"能长期保存的附件位于 s3://BUCKET 或 file:///FOLDER")
	ObjectCopiedWrong = problem("object-copied-wrong",
		"object %s was not copied as it is: its hash is %s here, and %s there",
		"附件 %s 没有原样复制：此处的校验值是 %s，那里是 %s")
	AnotherMigrationRunBegun = problem("another-migration-run-begun",
		"another run of this migration was begun: this one ends",
		"这次迁移又开始了一次新的运行，本次运行到此结束")
	TargetIsNotEmpty = problem("target-is-not-empty",
		"%s is not empty: it has %s of its own; nothing was changed. Name an empty database",
		"%s 不是空的：其中已有 %s；没有更改任何内容。请指定空的数据库")
	IsTargetOfMigration = problem("is-target-of-migration",
		"%s is itself the target of a migration that was not finished: nothing was changed",
		"%s 本身是一次未完成迁移的目标：没有更改任何内容")
	TargetHoldsPartOfAnother = problem("target-holds-part-of-another",
		"%s holds a part of another store, from a migration that was not finished: go on with that one, or name an empty database",
		"%s 中有另一个存储的一部分，来自未完成的迁移：请继续那次迁移，或指定空的数据库")
	StoreClosedForMove = problem("store-closed-for-move",
		"%s is closed, because it is being moved to %s; migrate --cancel lets it be changed again",
		"%s 正在迁移到 %s，已禁止更改；migrate --cancel 可使它再次允许更改")
	StoreMovedAlready = problem("store-moved-already",
		"%s was moved to %s already; migrate --cancel lets it be changed again",
		"%s 已经迁移到 %s；migrate --cancel 可使它再次允许更改")
)

// Sentences about backups.
var (
	NotABackup = problem("not-a-backup",
		"this is not a backup of scrollback, or its beginning is damaged (%v)",
		"这不是 scrollback 的备份，或其开头已损坏（%v）")
	BackupIsDamaged = problem("backup-is-damaged",
		"the backup was cut off or changed: %v",
		"备份不完整或被改动过：%v")
	BackupOfAnotherVersion = problem("backup-of-another-version",
		"the backup has version %d of the format, this program reads version %d",
		"备份的格式版本是 %d，本程序读取版本 %d")
	BackupOfMemory = problem("backup-of-memory",
		"a store in memory ends with its program: it has no backup",
		"内存中的存储随程序结束而消失：没有备份")
	BackupTookTooLong = problem("backup-took-too-long",
		"after %s the database was not copied, and others wait for room: try when less is written, or on a faster disk",
		"%s 之后数据库仍未复制完，其他程序在等待空间：请在写入较少时重试，或使用更快的磁盘")
	NoStoreThere = problem("no-store-there",
		"%s is neither a data folder of scrollback nor a backup",
		"%s 既不是 scrollback 的数据文件夹，也不是备份")
	MergeWithItself = problem("merge-with-itself",
		"%s is the data folder of this store itself",
		"%s 就是这个数据库自己的数据文件夹")
	MergeLeftOut = problem("merge-left-out",
		"%d things were left out; the rest was merged",
		"有 %d 项被略过；其余已合并")
	NoBackupFolder = problem("no-backup-folder",
		"there is no folder %s",
		"没有文件夹 %s")
	NoBackupAt = problem("no-backup-at",
		"there is no backup at %s",
		"%s 处没有备份")
	RestoreIntoFilledStore = problem("restore-into-filled-store",
		"there is something in this store: a backup is restored into an empty one; name another folder with --data",
		"此存储中已有内容：备份只能恢复到空的存储；请用 --data 指定另一个文件夹")
	NameBackupPlace = problem("name-backup-place",
		"name a file, a folder or a bucket, or set backup.to in the config file",
		"请指定文件、文件夹或存储桶，或在配置文件中设置 backup.to")
	KeepNeedsFolder = problem("keep-needs-folder",
		"--keep is for a folder or a bucket with backups, not for one file",
		"--keep 用于存放备份的文件夹或存储桶，不能用于单个文件")
	BackupsAreNotSetUp = problem("backups-are-not-set-up",
		"no backups are set up: in the config file, backup.to names a folder or a bucket for them",
		"没有设置备份：请在配置文件中用 backup.to 指定存放备份的文件夹或存储桶")
	BackupIsRunning = problem("backup-is-running",
		"a backup is being made or verified: try again when that is done",
		"正在创建或检查备份：请在完成后重试")
	EncryptNeedsFile = problem("encrypt-needs-file",
		"--encrypt and --mask are for the file that -o writes",
		"--encrypt 和 --mask 用于 -o 写入的文件")
	MaskNeedsNewCopy = problem("mask-needs-new-copy",
		"--mask writes a new copy: it does not go with --key",
		"--mask 会写入新的副本，不能与 --key 一起使用")
	EncryptNeedsBundle = problem("encrypt-needs-bundle",
		"--encrypt is for bundles, not for %s",
		"--encrypt 用于对话包，不能用于 %s")
	EncryptedIsBinary = problem("encrypted-is-binary",
		"an encrypted file is binary: name a file with -o, or send it to a pipe",
		"加密的文件是二进制数据：请用 -o 指定文件，或输出到管道")
	BackupAtIsTime = problem("backup-at-is-time",
		"backup.at is a time of the day such as 03:00, not %q",
		"backup.at 是一天中的时间，例如 03:00，不能是 %q")
)

// Sentences about identities and encrypted files.
var (
	IdentityIsNone = problem("identity-is-none",
		"SCROLLBACK_IDENTITY holds no identity",
		"SCROLLBACK_IDENTITY 中没有身份密钥")
	IdentityHasNoPlace = problem("identity-has-no-place",
		"there is no folder for an identity here: name a file with SCROLLBACK_IDENTITY",
		"这里没有存放身份密钥的文件夹：请用 SCROLLBACK_IDENTITY 指定文件")
	IdentityIsNotThere = problem("identity-is-not-there",
		"there is no identity at %s; scrollback identity makes one there",
		"%s 处没有身份密钥；scrollback identity 可在那里创建一个")
	IdentityFileHasNone = problem("identity-file-has-none",
		"%s holds no identity, or one that is damaged",
		"%s 中没有身份密钥，或密钥已损坏")
	IdentityCannotBeRead = problem("identity-cannot-be-read",
		"the identity at %s cannot be read: %v",
		"无法读取 %s 处的身份密钥：%v")
	IdentityCannotBeMade = problem("identity-cannot-be-made",
		"no identity can be made at %s: %v",
		"无法在 %s 处创建身份密钥：%v")
	RecipientIsNone = problem("recipient-is-none",
		"%q is not a recipient: one begins with age1, and scrollback identity shows that of a machine",
		"%q 不是接收者：接收者以 age1 开头，scrollback identity 显示一台机器的接收者")
	EncryptedAndNoIdentity = problem("encrypted-and-no-identity",
		"this file is encrypted, and there is no identity at %s to open it with",
		"此文件已加密，而 %s 处没有可以打开它的身份密钥")
	NoIdentityFits = problem("no-identity-fits",
		"this file is encrypted, and no identity here opens it, that of %s included; name the right one with "+
			"SCROLLBACK_IDENTITY",
		"此文件已加密，这里没有能打开它的身份密钥（包括 %s 的）；请用 SCROLLBACK_IDENTITY 指定正确的")
	EncryptedIsDamaged = problem("encrypted-is-damaged",
		"the encrypted file was cut off or changed: %v",
		"加密的文件不完整或被改动过：%v")
	EncryptedIsForCommand = problem("encrypted-is-for-command",
		"this file is encrypted: scrollback import opens it, on a machine with the identity",
		"此文件已加密：请在有身份密钥的机器上用 scrollback import 打开")
)
