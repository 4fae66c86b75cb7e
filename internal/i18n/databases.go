package i18n

// Sentences of errors of opening and keeping a database.
var (
	BuiltWithoutObjectStores = problem("built-without-object-stores",
		"this program was built without %s object stores: build it with go build -tags allclouds ./cmd/scrollback, or use s3://",
		"本程序在构建时未包含 %s 的对象存储：请用 go build -tags allclouds ./cmd/scrollback 构建，或使用 s3://")
	NothingCanBeWrittenTo = problem("nothing-can-be-written-to",
		"nothing can be written to %s: %w",
		"无法写入 %s：%w")
	NameAFolder = problem("name-a-folder",
		`name a folder; "." is the current one`,
		"请指定文件夹；“.” 是当前文件夹")
	FolderMayOnlyBeRead = problem("folder-may-only-be-read",
		"%s may only be read (%w); serve --read-only, and commands that only read, work there",
		"%s 只能读取（%w）；serve --read-only 以及只读的命令可在那里使用")
	DatabaseIsURL = problem("database-is-url",
		"a database is postgres://USER:PASSWORD@HOST:PORT/DATABASE, sqlite:///PATH or memory:",
		"数据库是 postgres://USER:PASSWORD@HOST:PORT/DATABASE、sqlite:///PATH 或 memory:")
	NoSuchMode = problem("no-such-mode",
		"there is no mode %d",
		"没有模式 %d")
	NoClientForPostgreSQL = problem("no-client-for-postgre-sql",
		"this program has no client for PostgreSQL: open it with cloud.Open, or use sqlite:///PATH",
		"本程序没有 PostgreSQL 的客户端：请用 cloud.Open 打开，或使用 sqlite:///PATH")
	MemoryDatabaseIsEmpty = problem("memory-database-is-empty",
		"a database in memory is empty: there is nothing to read",
		"内存中的数据库是空的：没有可读取的内容")
	LastingDatabaseNeedsLastingObjects = problem("lasting-database-needs-lasting-objects",
		"a database that lasts needs objects that last: s3://BUCKET or file:///FOLDER",
		"持久的数据库需要持久的对象：s3://BUCKET 或 file:///FOLDER")
	NothingToHashAnyMore = problem("nothing-to-hash-any-more",
		"what was to be hashed is no longer there",
		"要计算散列的内容已不存在")
	KeptSoughtElsewhere = problem("kept-sought-elsewhere",
		"somebody else is looking through these messages for what is to be kept",
		"其他程序正在这些消息中查找要保留的内容")
	BranchViewChangedMeanwhile = problem("branch-view-changed-meanwhile",
		"the view of branch %s changed meanwhile",
		"分支 %s 的视图在此期间发生了变化")
	BranchLeftOneOfTwo = problem("branch-left-one-of-two",
		"branch %s may have left %s or %s",
		"分支 %s 可能从 %s 或 %s 分出")
	BranchFollowsNothing = problem("branch-follows-nothing",
		"nothing that branch %s could follow exists",
		"没有分支 %s 可以接续的内容")
	PostgreSQLTooOld = problem("postgre-sql-too-old",
		"this PostgreSQL is of version %d; scrollback needs %d or newer",
		"此 PostgreSQL 的版本是 %d；scrollback 需要 %d 或更新的版本")
	DatabaseEncodingWrong = problem("database-encoding-wrong",
		"the database's encoding is %s; scrollback needs UTF8: CREATE DATABASE … TEMPLATE template0 ENCODING 'UTF8'",
		"数据库的编码是 %s；scrollback 需要 UTF8：CREATE DATABASE … TEMPLATE template0 ENCODING 'UTF8'")
	PostgreSQLUserOnlyReads = problem("postgre-sql-user-only-reads",
		"this PostgreSQL only lets its user read (default_transaction_read_only is on); scrollback needs to write",
		"此 PostgreSQL 只允许该用户读取（default_transaction_read_only 已打开）；scrollback 需要写入")
	DatabaseHasNoSchemaForUser = problem("database-has-no-schema-for-user",
		"the database has no schema for its user: the first of search_path does not exist",
		"数据库没有该用户可用的 schema：search_path 中的第一个不存在")
	AllConnectionsInUse = problem("all-connections-in-use",
		"all %d connections that %s are in use; pool_max_conns in the database's URL sets how many there are",
		"全部 %d 个（%s）连接都在使用中；数据库 URL 中的 pool_max_conns 决定连接数")
	DatabaseURLUnreadable = problem("database-url-unreadable",
		"the database's URL cannot be read; it looks like postgres://user:password@host:5432/database, and what is neither letter nor digit in a password is percent-encoded",
		"无法读取数据库的 URL；它形如 postgres://user:password@host:5432/database，密码中字母和数字以外的字符要用百分号编码")
	DatabaseURLSslmodeWrong = problem("database-url-sslmode-wrong",
		"the database's URL has a wrong sslmode: it may be %s",
		"数据库 URL 中的 sslmode 有误：可以是 %s")
	DatabaseURLFileUnreadable = problem("database-url-file-unreadable",
		"the database's URL names a file that cannot be read: %s: %w",
		"数据库 URL 指定的文件无法读取：%s：%w")
	SslrootcertHoldsNoCertificate = problem("sslrootcert-holds-no-certificate",
		"the file that sslrootcert names in the database's URL holds no certificate",
		"数据库 URL 中 sslrootcert 指定的文件不含证书")
	DatabaseURLPoolWrong = problem("database-url-pool-wrong",
		"the database's URL has a wrong pool_max_conns: it is a number of connections, at least 2",
		"数据库 URL 中的 pool_max_conns 有误：它是连接数，至少为 2")
	DatabaseHostUnknown = problem("database-host-unknown",
		"the database's host %s is not known",
		"找不到数据库的主机 %s")
	NothingListensAt = problem("nothing-listens-at",
		"nothing listens at %s: is PostgreSQL running there?",
		"%s 没有程序在监听：PostgreSQL 在那里运行吗？")
	DatabaseCertificateDoesNotFit = problem("database-certificate-does-not-fit",
		"the certificate of the database at %s does not fit: it is for another name, or signed by nobody in sslrootcert",
		"位于 %s 的数据库的证书不符：它属于另一个名称，或不是由 sslrootcert 中的机构签发")
	DatabaseSpeaksNoTLS = problem("database-speaks-no-tls",
		"the database at %s does not speak TLS, and sslmode in the database's URL demands it",
		"位于 %s 的数据库不支持 TLS，而数据库 URL 中的 sslmode 要求 TLS")
	ListensButNotPostgreSQL = problem("listens-but-not-postgre-sql",
		"what listens at %s is not PostgreSQL",
		"在 %s 监听的不是 PostgreSQL")
	DatabaseDoesNotReply = problem("database-does-not-reply",
		"the database at %s does not reply within %s",
		"位于 %s 的数据库在 %s 内没有响应")
	DatabaseClosedConnection = problem("database-closed-connection",
		"the database at %s closed the connection",
		"位于 %s 的数据库关闭了连接")
	DatabaseCannotBeOpened = problem("database-cannot-be-opened",
		"the database at %s cannot be opened",
		"无法打开位于 %s 的数据库")
	PostgreSQLIsReplica = problem("postgre-sql-is-replica",
		"this PostgreSQL is a read-only replica; scrollback needs the primary",
		"此 PostgreSQL 是只读副本；scrollback 需要主库")
	DatabaseRefusesPassword = problem("database-refuses-password",
		"the database at %s does not take the password of user %s",
		"位于 %s 的数据库不接受用户 %s 的密码")
	DatabaseRefusesUserWithoutTLS = problem("database-refuses-user-without-tls",
		"the database at %s does not let user %s in without TLS, or not from here: sslmode=require in the database's URL asks for TLS",
		"位于 %s 的数据库不允许用户 %s 不用 TLS 登录，或不允许从这里登录：数据库 URL 中的 sslmode=require 要求 TLS")
	DatabaseRefusesUser = problem("database-refuses-user",
		"the database at %s does not let user %s in from here",
		"位于 %s 的数据库不允许用户 %s 从这里登录")
	ServerHasNoDatabase = problem("server-has-no-database",
		"the server at %s has no database %s; createdb makes it",
		"位于 %s 的服务器没有数据库 %s；可用 createdb 创建")
	DatabaseIsStarting = problem("database-is-starting",
		"the database at %s is starting or ending; try again in a moment",
		"位于 %s 的数据库正在启动或关闭；请稍后再试")
	DatabaseHasNoConnectionLeft = problem("database-has-no-connection-left",
		"the database at %s has no connection left (max_connections); pool_max_conns in the database's URL lets each server take fewer",
		"位于 %s 的数据库没有剩余的连接（max_connections）；数据库 URL 中的 pool_max_conns 可让每个服务器少用一些")
	DatabaseURLSettingUnknown = problem("database-url-setting-unknown",
		"the database's URL has a setting that PostgreSQL does not know: %s",
		"数据库 URL 中有 PostgreSQL 不认识的设置：%s")
	DatabaseDiskFull = problem("database-disk-full",
		"the database at %s has no room left on its disk",
		"位于 %s 的数据库的磁盘已满")
	NotAScrollbackDatabase = problem("not-a-scrollback-database",
		"this is not a scrollback database: it has %d tables of another program; nothing was changed. An empty database or schema is needed",
		"这不是 scrollback 的数据库：其中有其他程序的 %d 个表；没有更改任何内容。需要空的数据库或 schema")
	DatabaseTooNew = problem("database-too-new",
		"the database was written by a newer scrollback (schema %d, this program knows %d); nothing was changed",
		"数据库由更新版本的 scrollback 写入（结构 %d，本程序只认识 %d）；没有更改任何内容")
	AnotherServerUpgrades = problem("another-server-upgrades",
		"another server took over bringing the database up to date; start this one again",
		"另一个服务器接手了数据库的升级；请重新启动这个服务器")
	NothingInDatabaseYet = problem("nothing-in-database-yet",
		"there is nothing in the database yet",
		"数据库中还没有任何内容")
	DatabaseTooOld = problem("database-too-old",
		"the database was written by an older scrollback (schema %d, this program's is %d); any command that writes brings it up to date",
		"数据库由旧版 scrollback 写入（结构 %d，本程序为 %d）；任何会写入的命令都会升级它")
	UserMayNotMakeTables = problem("user-may-not-make-tables",
		"the database's user may not make tables in it: GRANT CREATE ON SCHEMA … TO … lets it: %w",
		"数据库的用户不能在其中建表：GRANT CREATE ON SCHEMA … TO … 可以授权：%w")
	PostgreSQLNotCopiedIntoFile = problem("postgre-sql-not-copied-into-file",
		"a PostgreSQL database is not copied into a file: make a dump with pg_dump, then repair with --no-copy",
		"PostgreSQL 数据库不会复制到文件中：请先用 pg_dump 备份，再用 --no-copy 修复")
	WrittenCannotBeReadBack = problem("written-cannot-be-read-back",
		"what was written cannot be read back",
		"写入的内容无法读回")
	StoreCanOnlyBeRead = problem("store-can-only-be-read",
		"this scrollback can only be read: nothing was changed",
		"此 scrollback 是只读的，没有更改任何内容")
	StoreIsBeingMovedTo = problem("store-is-being-moved-to",
		"this store is being moved to %s; here it can only be read",
		"此存储正在迁移到 %s；在这里只能读取")
	IndexSegmentGivenUp = problem("index-segment-given-up",
		"the segment of the index was given up",
		"索引的这一段已被放弃")
	FileExistsAt = problem("file-exists-at",
		"there is already a file at %s",
		"%s 处已有文件")
	CannotBeCopied = problem("cannot-be-copied",
		"%T cannot be copied",
		"%T 无法复制")
	SQLiteMayLoseCommits = problem("sq-lite-may-lose-commits",
		"SQLite %s may lose commits; 3.51.3 or newer is needed",
		"SQLite %s 可能丢失提交；需要 3.51.3 或更新的版本")
	FileIsNoScrollbackDatabase = problem("file-is-no-scrollback-database",
		"%s is not a scrollback database: %s; nothing was changed",
		"%s 不是 scrollback 数据库：%s；没有更改任何内容")
	DatabaseCannotBeLocked = problem("database-cannot-be-locked",
		"the database cannot be locked: %w",
		"无法锁定数据库：%w")
	DatabaseCannotBeReached = problem("database-cannot-be-reached",
		"the database cannot be reached: %w",
		"无法访问数据库：%w")
	NothingInDatabaseAtYet = problem("nothing-in-database-at-yet",
		"there is nothing in the database at %s yet",
		"%s 处的数据库中还没有任何内容")
	AnotherProgramWroteMeanwhile = problem("another-program-wrote-meanwhile",
		"another program began to write while the database was read; run it again",
		"读取数据库时另一个程序开始写入；请重新运行")
	DriverLacksMethods = problem("driver-lacks-methods",
		"%T lacks methods",
		"%T 缺少方法")
	DatabaseMayNotBeRead = problem("database-may-not-be-read",
		"the database at %s may not be read by this user (permission denied)",
		"当前用户无权读取 %s 处的数据库（权限不足）")
	WriteAheadLogNotReadIn = problem("write-ahead-log-not-read-in",
		"the log beside %s has not been read in, and the folder may only be read: open it once where it can be written (%w)",
		"%s 旁的日志尚未读入，而该文件夹只能读取：请在可写入的地方打开一次（%w）")
	DatabaseDamagedBeyondReading = problem("database-damaged-beyond-reading",
		"the database at %s is damaged, beyond reading: %w; rescue/ and backup/ beside it may hold copies",
		"%s 处的数据库已损坏，无法读取：%w；旁边的 rescue/ 和 backup/ 中可能有副本")
	IdempotencyKeyUsedOtherwise = problem("idempotency-key-used-otherwise",
		"this idempotency key was used for another request",
		"此幂等键已用于另一个请求")
	ConversationStillAnswered = problem("conversation-still-answered",
		"conversation %s is still being answered; if that program was killed, it can be asked again within 15 seconds",
		"对话 %s 仍在回答中；如果写回答的程序已被终止，最多 15 秒后即可重新提问")
	TurnOfAnotherOwner = problem("turn-of-another-owner",
		"turn %s belongs to another owner",
		"对话轮 %s 属于另一个进程")
	ConversationHadNoTurnYet = problem("conversation-had-no-turn-yet",
		"conversation %s had no turn yet",
		"对话 %s 还没有任何一轮")
)
