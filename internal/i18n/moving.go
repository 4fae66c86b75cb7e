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
