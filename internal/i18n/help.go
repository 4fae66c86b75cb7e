package i18n

// The help of commands, flags and arguments: members of the family help, which the tags of the
// command line name.
var (
	_ = label("help/show-help", "Show context-sensitive help.", "显示帮助。")
	_ = label("help/config-file",
		"Config file ($SCROLLBACK_CONFIG). Default: the user's own, if there is one.",
		"配置文件（$SCROLLBACK_CONFIG）。默认：用户自己的配置文件（如果有）。")
	_ = label("help/folder-holds-data",
		"Folder that holds the data ($SCROLLBACK_DATA).",
		"存放数据的文件夹（$SCROLLBACK_DATA）。")
	_ = label("help/database",
		"Database ($SCROLLBACK_STORE): postgres://USER:PASSWORD@HOST:PORT/DATABASE, which any number of servers share, or sqlite:///PATH. Default: scrollback.db in the data folder.",
		"数据库（$SCROLLBACK_STORE）：postgres://USER:PASSWORD@HOST:PORT/DATABASE（任意多个服务器可共用），或 sqlite:///PATH。默认：数据文件夹中的 scrollback.db。")
	_ = label("help/where-bytes-artifacts-kept",
		"Where the bytes of artifacts are kept ($SCROLLBACK_OBJECTS): s3://BUCKET[/PREFIX][?region=…&endpoint=…] or file:///FOLDER. Default: a folder beside the data.",
		"附件字节的存放位置（$SCROLLBACK_OBJECTS）：s3://BUCKET[/PREFIX][?region=…&endpoint=…] 或 file:///FOLDER。默认：数据旁边的文件夹。")
	_ = label("help/model-ask",
		"Model to ask ($SCROLLBACK_MODEL where a conversation names none).",
		"要使用的模型（对话未指定时用 $SCROLLBACK_MODEL）。")
	_ = label("help/window-model-tokens-place-own",
		"Window of the model in tokens, in place of its own ($SCROLLBACK_LIMIT). For commands that list or read: how many.",
		"模型的窗口大小（token 数），代替其自身的值（$SCROLLBACK_LIMIT）。对列出或读取的命令：数量。")
	_ = label("help/how-much-model-thinks-before-answers",
		"How much the model thinks before it answers: none, minimal, low, medium, high, xhigh or max. Default: the conversation's setting, else the model's.",
		"模型回答前思考的程度：none、minimal、low、medium、high、xhigh 或 max。默认：对话的设置，否则模型的设置。")
	_ = label("help/how-long-request-does-not-fit-waits",
		"How long a request that does not fit waits for a summary, such as 30s or 2m; 0s for not at all ($SCROLLBACK_SUMMARY_TIMEOUT).",
		"放不下的请求等待摘要的时间，例如 30s 或 2m；0s 表示不等待（$SCROLLBACK_SUMMARY_TIMEOUT）。")
	_ = label("help/folder-conversations-may-work",
		"Folder that conversations may work in ($SCROLLBACK_ROOT); may be repeated. For mcp: where the client works. Default: the current folder for chat and run, none for serve.",
		"对话可以使用的文件夹（$SCROLLBACK_ROOT），可重复。对 mcp：客户端工作的文件夹。默认：chat 和 run 为当前文件夹，serve 为无。")
	_ = label("help/print-json-as-api-does",
		"Print JSON, as the API does.",
		"输出 JSON，与 API 相同。")
	_ = label("help/print-version",
		"Print the version.",
		"显示版本。")
	_ = label("help/serve-web-page-api",
		"Serve the web page and the API.",
		"启动网页和 API 服务。")
	_ = label("help/set-up-agents-of-this-machine",
		"Set up the agents of this machine so that they ask scrollback: the plan first, then files of ours or a few lines in theirs.",
		"设置本机的代理，使它们查询 scrollback：先显示计划，再写入自己的文件，或在代理的文件中加入几行。")
	_ = label("help/take-everything-out-of-agents-again",
		"Take everything that install has written out of the agents again; each file is as it was before. The data stays.",
		"把 install 写入代理的全部内容移除，让每个文件恢复原样。数据保留。")
	_ = label("help/agents-to-set-up",
		"Agents to set up, with commas: {installs}. Default: all that are found. One that is named is set up although it was not found.",
		"要设置的代理，用逗号分隔：{installs}。默认为找到的全部代理；指定的代理即使没有找到也会设置。")
	_ = label("help/agents-to-take-it-out-of",
		"Agents to take it out of, with commas: {installs}. Default: all.",
		"要移除的代理，用逗号分隔：{installs}。默认为全部。")
	_ = label("help/show-plan-with-differences-and-write-nothing",
		"Show the plan with the lines that would change, and write nothing.",
		"显示计划及将要改变的行，不写入任何内容。")
	_ = label("help/set-up-mcp-server-and-no-hooks",
		"Set up the MCP server, and no hooks.",
		"只设置 MCP 服务器，不设置钩子。")
	_ = label("help/write-what-agents-call-trust",
		"Also write what an agent would ask for: Codex' trust in these hooks; have OpenClaw take its plugin.",
		"同时写入代理会询问的内容：Codex 对这些钩子的信任；并让 OpenClaw 接受插件。")
	_ = label("help/write-also-in-container-or-foreign-home",
		"Write also in a container, or in a home folder that belongs to somebody else or is mounted from elsewhere.",
		"即使在容器中，或主文件夹属于他人或从别处挂载，也写入。")
	_ = label("help/keep-collecting-as-service",
		"Keep importing what agents say as a service of yours: scrollback watch, by systemd, launchd or the task scheduler.",
		"以用户服务的方式持续导入代理的对话：由 systemd、launchd 或任务计划程序运行 scrollback watch。")
	_ = label("help/start-program-that-asks-here",
		"Start an agent or chat program whose requests go through scrollback: what it says is kept, and nothing of its settings is changed. Without a server that runs, one runs as long as the program.",
		"启动一个请求经过 scrollback 的代理或聊天程序：它所说的都会保留，它的设置不会改变。如果没有正在运行的服务器，则在该程序运行期间启动一个。")
	_ = label("help/program-to-start-and-its-arguments",
		"The program, then whatever it takes: {clients or}.",
		"程序，后接它自己的参数：{clients or}。")
	_ = label("help/which-folders-are-one-place",
		"Say which folders are one place of work, where their files do not.",
		"在文件无法表明时，指定哪些文件夹属于同一工作位置。")
	_ = label("help/list-places-joined-parted-known",
		"List what was joined and parted, and the repositories that are known on other machines.",
		"列出已合并和已分开的位置，以及在其他机器上也能识别的仓库。")
	_ = label("help/make-two-places-one",
		"Make the places of two folders one: in either, what was said in both is found.",
		"把两个文件夹的位置合为一处：在任一处都能找到两处的对话。")
	_ = label("help/make-place-only-itself",
		"Make the place of a folder only itself: it leaves those that it was joined with, and other clones of its repository.",
		"让文件夹的位置只包含它自己：不再与合并过的位置相连，也不再与其仓库的其他克隆相连。")
	_ = label("help/folders-to-join",
		"Two folders.",
		"两个文件夹。")
	_ = label("help/folder-to-part",
		"A folder of the place.",
		"该位置中的一个文件夹。")
	_ = label("help/let-another-agent-go-on",
		"Let another agent go on with a conversation: as a session of its own, or with a brief as its first prompt.",
		"让另一个代理继续某个对话：作为它自己的会话，或以一份概要作为首条提示。")
	_ = label("help/conversation-to-hand-over",
		"Id, unique prefix, number in the last list, or latest: the newest that was held in this folder's repository. Default: latest.",
		"id、唯一前缀、上次列表中的编号，或 latest：在此文件夹所在仓库中最新的对话。默认：latest。")
	_ = label("help/agent-that-goes-on",
		"The agent that goes on, by its name or that of its program, such as claude-code or codex.",
		"继续对话的代理，用它的名称或程序名，例如 claude-code 或 codex。")
	_ = label("help/native-or-brief",
		"native: as a session that the agent resumes; brief: as a first prompt of at most 1,500 tokens. Default: native where its sessions are written here.",
		"native：作为代理可恢复的会话；brief：作为不超过 1,500 个 token 的首条提示。默认：能写出其会话格式时为 native。")
	_ = label("help/folder-where-agent-goes-on",
		"Folder where the agent goes on. Default: the conversation's own if it is on this machine, else the current one.",
		"代理继续工作的文件夹。默认：对话自己的文件夹（若在本机），否则为当前文件夹。")
	_ = label("help/start-agent-at-once",
		"Start the agent there at once.",
		"立即在那里启动代理。")
	_ = label("help/print-brief-write-nothing",
		"Print the brief, and write and start nothing.",
		"输出概要，不写入也不启动任何东西。")
	_ = label("help/ask-server-on-machine-whether-can-keep",
		"Ask the server on this machine whether it can keep what it is given.",
		"询问本机的服务器能否保存收到的内容。")
	_ = label("help/address-server-listens-on",
		"Address the server listens on ($SCROLLBACK_ADDR). Default: 127.0.0.1:7077.",
		"服务器监听的地址（$SCROLLBACK_ADDR）。默认：127.0.0.1:7077。")
	_ = label("help/address-listen-on",
		"Address to listen on ($SCROLLBACK_ADDR). Default: 127.0.0.1:7077.",
		"监听的地址（$SCROLLBACK_ADDR）。默认：127.0.0.1:7077。")
	_ = label("help/serve-other-machines-although-there-no-keys",
		"Serve other machines although there are no keys: anyone who reaches the address may do everything.",
		"即使没有密钥也对其他机器开放：任何能访问该地址的人都可以做任何事。")
	_ = label("help/change-nothing",
		"Change nothing: conversations can be read, searched and exported. The data folder need not be writable.",
		"不做任何更改：对话可以阅读、搜索和导出。数据文件夹不必可写。")
	_ = label("help/let-model-start-sub-agents",
		"Let the model start sub-agents: conversations beside this one that work on one task each.",
		"允许模型启动子代理：在本对话旁各自完成一项任务的对话。")
	_ = label("help/how-clients-other-apis-are-answered",
		"How clients of other APIs are answered ($SCROLLBACK_DOOR): faithful sends their requests on as they stand while they fit, window always sends a window made here, record sends all on. Default: faithful.",
		"如何回答其他 API 的客户端（$SCROLLBACK_DOOR）：faithful 在放得下时原样转发请求，window 始终发送此处生成的窗口，record 全部转发。默认：faithful。")
	_ = label("help/how-long-goes-on-once-told-end",
		"How long it goes on once it is told to end, such as 5s, while /readyz says so ($SCROLLBACK_GRACE). Default: 0s.",
		"收到结束信号后继续服务的时间，例如 5s，其间 /readyz 会说明（$SCROLLBACK_GRACE）。默认：0s。")
	_ = label("help/chats-each-key-or-else-address",
		"Chats of each key, or else address, such as 100/h; off for no limit ($SCROLLBACK_RATE_LIMIT). Default: 20/h where other machines reach the server.",
		"每个密钥（没有密钥时为每个地址）的对话频率，例如 100/h；off 表示不限（$SCROLLBACK_RATE_LIMIT）。默认：其他机器能访问时为 20/h。")
	_ = label("help/speak-as-mcp-server-over-standard-input",
		"Speak as an MCP server over standard input and output.",
		"通过标准输入和输出作为 MCP 服务器运行。")
	_ = label("help/serve-conversation-only",
		"Serve this conversation only.",
		"只提供这个对话。")
	_ = label("help/what-served-besides-what-was-said-about",
		"What is served besides what was said about the folders of --root, or those that the client names: folder (nothing), project (the projects of their conversations) or all.",
		"除了与 --root 的文件夹（或客户端指出的文件夹）有关的内容之外，还提供什么：folder（无）、project（这些对话所属的项目）或 all（全部）。")
	_ = label("help/chat-terminal-or-through-pipe",
		"Chat, in this terminal or through a pipe.",
		"在终端或通过管道聊天。")
	_ = label("help/continue-id",
		"Continue ID; without one, pick from a list (through a pipe: the latest).",
		"继续对话 ID；不带 ID 则从列表中选择（通过管道时：最近的一个）。")
	_ = label("help/project-new-conversation",
		"Project of a new conversation.",
		"新对话所属的项目。")
	_ = label("help/project-new-conversation-or-resume",
		"Project of a new conversation, or to resume in.",
		"新对话所属的项目，或要继续其中对话的项目。")
	_ = label("help/conversation-continue-which-root-adds-folder",
		"Conversation to continue, to which --root adds a folder: its id, a unique prefix of it, latest, or its number in list. Default: a new one.",
		"要继续的对话，--root 会为它添加文件夹：完整 id、唯一的 id 前缀、latest 或列表中的序号。默认：新对话。")
	_ = label("help/ask-once-print-answer",
		"Ask once and print the answer.",
		"提问一次并输出回答。")
	_ = label("help/continue-conversation",
		"Continue this conversation; --root adds a folder to it. Default: a new one.",
		"继续这个对话；--root 会为它添加文件夹。默认：新对话。")
	_ = label("help/standard-input-beside-prompt",
		"Standard input beside a prompt: auto (if it begins within 3 s), wait (however long it takes) or ignore.",
		"提示之外的标准输入：auto（3 秒内开始才读取）、wait（一直等待）或 ignore（不读取）。")
	_ = label("help/search-web-before-answer-model-provider-or",
		"Search the web before the answer, with the model's provider or a SearXNG (searxng in the config file).",
		"回答前先联网搜索，由模型的提供商或 SearXNG 进行（配置文件中的 searxng）。")
	_ = label("help/leave-message-seq-out-later-requests-conversation",
		"Leave message SEQ out of this and later requests of the conversation; a call goes with its results. The log keeps it.",
		"这次和以后的请求都不带第 SEQ 条消息；调用与其结果一起略去。日志中仍保留。")
	_ = label("help/take-message-seq-back-into-requests",
		"Take message SEQ back into the requests.",
		"重新在请求中带上第 SEQ 条消息。")
	_ = label("help/say-nothing-new",
		"Say nothing new: have the last question of --conversation answered again, after a failure or an interruption.",
		"不说新内容：在失败或中断之后，重新回答 --conversation 的最后一个问题。")
	_ = label("help/what-ask",
		"What to ask. Default, or with -: standard input. Beside a prompt, standard input is sent after it.",
		"要问的内容。默认或写 - 时：标准输入。有提示时，标准输入的内容接在提示之后发送。")
	_ = label("help/run-cells-notebook-show-them",
		"Run the cells of a notebook (.ipynb, .mtm), and show them.",
		"运行并显示笔记本（.ipynb、.mtm）的单元格。")
	_ = label("help/run-cell",
		"Run a cell; what came of it is written into the file.",
		"运行一个单元格，结果写入文件。")
	_ = label("help/cell-run",
		"Cell to run: its number in notebook show, last, all, or new for the PROMPT. Default: new with a PROMPT, else last.",
		"要运行的单元格：notebook show 中的序号、last、all，或用 new 表示 PROMPT。默认：有 PROMPT 时为 new，否则为 last。")
	_ = label("help/notebook",
		"Notebook (.ipynb or .mtm).",
		"笔记本（.ipynb 或 .mtm）。")
	_ = label("help/what-ask-new-cell-cell-new",
		"What to ask in a new cell, with --cell new; - for standard input.",
		"使用 --cell new 时，在新单元格中要问的内容；- 表示标准输入。")
	_ = label("help/list-cells-window-next-request",
		"List the cells, and the window of the next request.",
		"列出单元格和下一次请求的窗口。")
	_ = label("help/notebook-show",
		"Notebook to show.",
		"要显示的笔记本。")
	_ = label("help/make-notebook-without-cells",
		"Make a notebook without cells.",
		"新建一个没有单元格的笔记本。")
	_ = label("help/title-notebook",
		"Title of the notebook. Default: the name of the file.",
		"笔记本的标题。默认：文件名。")
	_ = label("help/file-make-whose-name-ends-ipynb-or",
		"File to make, whose name ends with .ipynb or .mtm.",
		"要新建的文件，名称以 .ipynb 或 .mtm 结尾。")
	_ = label("help/write-notebook-beside-one-begins-summary",
		"Write a notebook beside this one that begins with a summary of it.",
		"在旁边新写一个以本笔记本摘要开头的笔记本。")
	_ = label("help/notebook-compress",
		"Notebook to compress.",
		"要压缩的笔记本。")
	_ = label("help/list-conversations-most-recently-changed-first",
		"List conversations, most recently changed first.",
		"列出对话，最近更改的在前。")
	_ = label("help/only-project",
		"Only this project's.",
		"只列出此项目的。")
	_ = label("help/list-those-trash",
		"List those in the trash.",
		"列出回收站中的。")
	_ = label("help/how-many-list",
		"How many to list.",
		"列出的数量。")
	_ = label("help/continue-previous-list",
		"Continue the previous list.",
		"接着上一个列表。")
	_ = label("help/print-conversation-messages",
		"Print a conversation's messages.",
		"显示对话的消息。")
	_ = label("help/messages-after-seq",
		"Messages after this seq; 0 for the first.",
		"此消息号之后的消息；0 表示从第一条开始。")
	_ = label("help/messages-before-seq",
		"Messages before this seq.",
		"此消息号之前的消息。")
	_ = label("help/how-many-print",
		"How many to print.",
		"显示的数量。")
	_ = label("help/branch",
		"Branch. Default: the current one.",
		"分支。默认：当前分支。")
	_ = label("help/print-everything",
		"Print everything: all messages, from the first; reasoning and results of tools whole; and what is compacted.",
		"显示全部内容：从第一条起的所有消息，完整的思考过程和工具结果，以及哪些内容已压缩。")
	_ = label("help/print-answers-as-they-were-written-terminal",
		"Print answers as they were written, in a terminal too, where Markdown is shown set otherwise.",
		"按原文显示回答，在终端中也不排版 Markdown。")
	_ = label("help/id-unique-prefix-latest-or-number-list",
		"Its id, a unique prefix of it (8 characters or more), latest, or its number in list.",
		"对话的 id、唯一的 id 前缀（至少 8 个字符）、latest 或列表中的序号。")
	_ = label("help/find-messages-words",
		"Find messages by words.",
		"按词语查找消息。")
	_ = label("help/conversation-only",
		"In this conversation only.",
		"只在此对话中查找。")
	_ = label("help/project-only",
		"In this project only.",
		"只在此项目中查找。")
	_ = label("help/messages-role-only",
		"Messages of this role only.",
		"只查找此角色的消息。")
	_ = label("help/neighbouring-messages-show-on-each-side-best",
		"Neighbouring messages to show on each side of the best three.",
		"最佳的三条结果前后各显示几条相邻的消息。")
	_ = label("help/relevance-or-time",
		"relevance (best first) or time (the best, oldest first).",
		"relevance（最相关的在前）或 time（最相关的，按时间从早到晚）。")
	_ = label("help/words",
		`Words; "quoted" ones count for more, and must occur if there are no others; role:user, after:2026-03-01, before:2026-04 and on:2026-03-05 narrow it down.`,
		`词语；加 "引号" 的更重要，如果没有别的词则必须出现；role:user、after:2026-03-01、before:2026-04 和 on:2026-03-05 可缩小范围。`)
	_ = label("help/show-what-next-request-sends",
		"Show what the next request sends; read what is compacted.",
		"显示下一次请求会发送的内容；读取已压缩的内容。")
	_ = label("help/show-what-next-request-sends-2",
		"Show what the next request sends (the default).",
		"显示下一次请求会发送的内容（默认）。")
	_ = label("help/list-refs-newest-first",
		"List refs, newest first.",
		"列出引用，最新的在前。")
	_ = label("help/refs-kind-only",
		"Refs of this kind only: history or artifact.",
		"只列出此类引用：history 或 artifact。")
	_ = label("help/read-what-ref-points-at",
		"Read what a ref points at, or messages by their numbers.",
		"读取引用所指的内容，或按编号读取消息。")
	_ = label("help/start-at-byte",
		"Start at this byte.",
		"从此字节开始。")
	_ = label("help/print-one-page-size",
		"Print one page of this size. Default: everything.",
		"只输出这么大的一页。默认：全部。")
	_ = label("help/ref-or-conversation-before-numbers",
		"history:<id> or artifact:<id>; or a conversation, before numbers.",
		"history:<id> 或 artifact:<id>；也可以是一个对话，后面写编号。")
	_ = label("help/numbers-of-messages",
		"Numbers of messages of the conversation as it is now: 392 or 392-410.",
		"当前对话中消息的编号：392 或 392-410。")
	_ = label("help/print-last-lines-what-ref-points-at",
		"Print the last lines of what a ref points at, or of messages by their numbers.",
		"输出引用所指内容的最后几行，或按编号取的消息的最后几行。")
	_ = label("help/how-many-lines",
		"How many lines.",
		"多少行。")
	_ = label("help/find-lines-match-regular-expression",
		"Find lines that match a regular expression (RE2).",
		"查找匹配正则表达式（RE2）的行。")
	_ = label("help/search-behind-ref-only",
		"Search behind this ref only, or in these messages: 392-410.",
		"只在此引用所指的内容中查找，或只在这些消息中查找：392-410。")
	_ = label("help/how-many-matches-print",
		"How many matches to print; the total counts all.",
		"输出多少个匹配；总数会计算全部。")
	_ = label("help/lines-show-around-match",
		"Lines to show around a match.",
		"匹配前后各显示几行。")
	_ = label("help/match-case",
		"Match case.",
		"区分大小写。")
	_ = label("help/regular-expression",
		"Regular expression (RE2).",
		"正则表达式（RE2）。")
	_ = label("help/list-compactions-so-far-newest-first",
		"List the compactions so far, newest first.",
		"列出迄今的压缩，最新的在前。")
	_ = label("help/compact-old-messages",
		"Compact old messages; refs lead back to them.",
		"压缩旧消息；原文可经引用读回。")
	_ = label("help/how",
		"How: {policies or}.",
		"方式：{policies or}。")
	_ = label("help/number-policy-compaction-only",
		"A number of the policy, for this compaction only (see the guide to compaction); may be repeated.",
		"只用于本次压缩的策略数值（见压缩指南），可重复。")
	_ = label("help/compact-now-even-where-policy-would-not",
		"Compact now, even where the policy would not yet.",
		"立即压缩，即使按策略还不必。")
	_ = label("help/undo-newest-compaction-or-all-back-segment",
		"Undo the newest compaction, or all back to a segment.",
		"撤销最近一次压缩，或撤销到某一段为止。")
	_ = label("help/undo-every-compaction-back-one-made-segment",
		"Undo every compaction back to the one that made this segment (a history ref will do).",
		"撤销到产生此段的那次压缩为止（也可写 history 引用）。")
	_ = label("help/keep-messages-sight-when-they-compacted",
		"Keep messages in sight when they are compacted.",
		"压缩后仍让这些消息可见。")
	_ = label("help/unpin-them-instead",
		"Unpin them instead; without a seq, all.",
		"改为取消固定；不带消息号则全部取消。")
	_ = label("help/messages-keep-sight-when-they-compacted",
		"Messages to keep in sight when they are compacted; without any, the pins are listed.",
		"压缩后仍可见的消息；不写则列出已固定的消息。")
	_ = label("help/list-what-kept-word-for-word",
		"List what is kept word for word through every compaction, and correct it.",
		"列出每次压缩都逐字保留的内容，并可更正。")
	_ = label("help/sentence-keep-word-for-word",
		"With --keep: the sentence, as it stands in the message.",
		"与 --keep 一起：消息中的原句。")
	_ = label("help/also-what-no-longer-stands",
		"Also list what no longer stands: done, withdrawn or dropped.",
		"也列出不再有效的内容：已完成、已收回或已移除。")
	_ = label("help/keep-sentence-of-message",
		"Keep a sentence of this message.",
		"保留这条消息中的一句话。")
	_ = label("help/what-sentence-is",
		"With --keep: trait, instruction or todo. Default: what it reads as.",
		"与 --keep 一起：trait、instruction 或 todo。默认：按句意判断。")
	_ = label("help/carry-sentence-no-longer",
		"Carry this sentence no longer.",
		"不再保留这句话。")
	_ = label("help/tick-to-do-off",
		"Tick this to-do off.",
		"把这项待办标为完成。")
	_ = label("help/let-sentence-stand-again",
		"Let this sentence stand again.",
		"让这句话重新有效。")
	_ = label("help/list-what-stands-conversations-project",
		"List what stands in the conversations of this project.",
		"列出此项目各对话中有效的内容。")
	_ = label("help/compact-everything-so-far-start-afresh",
		"Compact everything so far and start afresh.",
		"压缩到目前为止的全部内容，重新开始。")
	_ = label("help/continue-from-message-new-conversation",
		"Continue from a message in a new conversation.",
		"从某条消息处另开一个对话继续。")
	_ = label("help/title-fork",
		"Title of the fork. Default: copy of the parent's.",
		"新对话的标题。默认：原对话标题的副本。")
	_ = label("help/seq-message",
		"Seq of the message; 0 is before the first. Default: the end of the branch.",
		"消息号；0 表示第一条之前。默认：分支的末尾。")
	_ = label("help/go-back-message-or-switch-another-branch",
		"Go back to a message, or switch to another branch.",
		"回到某条消息，或切换到另一个分支。")
	_ = label("help/list-conversation-branches",
		"List a conversation's branches.",
		"列出对话的分支。")
	_ = label("help/give-conversation-title",
		"Give a conversation a title.",
		"给对话起标题。")
	_ = label("help/new-title",
		"The new title.",
		"新标题。")
	_ = label("help/put-conversation-trash",
		"Put a conversation in the trash.",
		"把对话放入回收站。")
	_ = label("help/full-id",
		"The full id; a prefix will not do.",
		"完整的 id，不能用前缀。")
	_ = label("help/take-conversation-out-trash",
		"Take a conversation out of the trash.",
		"把对话从回收站取回。")
	_ = label("help/remove-conversation-permanently",
		"Remove a conversation permanently.",
		"永久删除对话。")
	_ = label("help/import-transcript-copy-or-bundle-or-what",
		"Import a transcript, a full copy or a bundle, or what other tools keep on this machine.",
		"导入对话记录、完整副本或对话包，或其他工具保存在本机上的对话。")
	_ = label("help/project-import-into",
		"Project to import into.",
		"导入到的项目。")
	_ = label("help/conversation-add",
		"Conversation to add to.",
		"要添加到的对话。")
	_ = label("help/import-bundle-under-new-ids-list-them",
		"Import a bundle under new ids, and list them.",
		"以新的 id 导入对话包，并列出这些 id。")
	_ = label("help/bring-back-what-was-purged-under-other-ids",
		"Bring back what was purged, under ids that follow from the old ones.",
		"让已被彻底删除的对话回来，其 id 由原来的 id 得出。")
	_ = label("help/ask-models-summaries-what-compacted-on-way",
		"Ask models for summaries of what is compacted on the way. This may take many calls. Default: none is asked.",
		"请模型为途中压缩的内容写摘要，可能需要多次调用。默认：不调用。")
	_ = label("help/files-zips-or-folders-read-or-standard",
		"Files, zips or folders to read, or - for standard input. With --from and no file: what is found on this machine.",
		"要读取的文件、zip 或文件夹（可写多个），或用 - 表示标准输入。使用 --from 且不写文件时：本机上找到的内容。")
	_ = label("help/all-or-tool-whose-conversations-looked-where",
		"all, or a tool, whose conversations are looked for where it keeps them ({keepers}; several with commas); or the format of FILE (those, {formats}). Default: recognised by its content.",
		"all 或某个工具，到其存放处查找对话（{keepers}；多个用逗号分隔）；或 FILE 的格式（以上各项、{formats}）。默认：按内容识别。")
	_ = label("help/say-what-would-imported-import-nothing",
		"Say what would be imported, and import nothing.",
		"说明会导入什么，但不导入。")
	_ = label("help/replace-what-looks-like-key-token-or",
		"Replace what looks like a key, token or private key by a mark before anything is stored.",
		"在存储之前，把看起来像密钥、令牌或私钥的内容替换为标记。")
	_ = label("help/leave-out-tool-or-what-was-worked",
		"Leave out a tool, or what was worked on in a folder or below; may be repeated.",
		"排除某个工具，或在某个文件夹及其子文件夹中进行的对话，可重复。")
	_ = label("help/give-each-working-folder-project-own",
		"Give each working folder a project of its own: folder.",
		"为每个工作文件夹单独建立项目：folder。")
	_ = label("help/follow-what-other-tools-keep-on-machine",
		"Follow what other tools keep on this machine, and import what changes.",
		"跟踪其他工具保存在本机上的对话，并导入变化。")
	_ = label("help/all-or-tools-commas-as-import-from",
		"all (the default), or tools with commas, as import --from names them.",
		"all（默认），或用逗号分隔的工具，名称与 import --from 相同。")
	_ = label("help/time-between-two-looks-at-everything-which",
		"Time between two looks at everything, which see what the system gave no notice of. Default: 60s.",
		"两次全面查看之间的时间，用于发现系统没有通知的变化。默认：60s。")
	_ = label("help/folder-or-file-follow",
		"Folder or file to follow. Default: what is found on this machine.",
		"要跟踪的文件夹或文件。默认：本机上找到的内容。")
	_ = label("help/follow-what-other-tools-keep-on-machine-as-scrollback-watch-does",
		"Follow what other tools keep on this machine, as scrollback watch does; the config file says which.",
		"像 scrollback watch 一样跟踪其他工具保存在本机上的对话；由配置文件指定哪些。")
	_ = label("help/check-everything-stored",
		"Check everything that is stored (the default).",
		"检查存储的全部内容（默认）。")
	_ = label("help/say-what-found-other-tools-on-machine",
		"Say what is found of other tools on this machine, how current it is here, and whether they have this program as an MCP server.",
		"说明在本机上找到的其他工具的内容、这里的新旧程度，以及它们是否把本程序注册为 MCP 服务器。")
	_ = label("help/check-everything-stored-2",
		"Check everything that is stored; --repair fixes what it can. Or look at other tools.",
		"检查存储的全部内容；--repair 修复能修复的。或查看其他工具。")
	_ = label("help/export-conversation",
		"Export a conversation.",
		"导出对话。")
	_ = label("help/file-write",
		"File to write. Default: standard output.",
		"要写入的文件。默认：标准输出。")
	_ = label("help/bundle-jsonl-claude-code-codex-gemini-cli",
		"bundle (everything, to be imported elsewhere), jsonl, claude-code, codex, gemini-cli, opencode, pi, qwen-code, or a notebook: mtm or ipynb. Default: by the file's extension, else a bundle.",
		"bundle（对话包：全部内容，可导入别处）、jsonl、claude-code、codex、gemini-cli、opencode、pi、qwen-code，或笔记本 mtm、ipynb。默认：按文件扩展名，否则为 bundle。")
	_ = label("help/include-markdown-files-compacted-segments-bundle",
		"Include the Markdown files of compacted segments in a bundle.",
		"在对话包中包含已压缩各段的 Markdown 文件。")
	_ = label("help/one-history-on-every-machine",
		"Meet your other machines: one history on all of them",
		"与您的其他机器会合：所有机器上同一份历史")
	_ = label("help/meet-other-machines",
		"Take what the others have, and give what they lack",
		"收下其他机器的内容，并送出它们缺少的内容")
	_ = label("help/make-or-join-remote",
		"Make a folder or bucket a remote, or join one",
		"把文件夹或存储桶设为远端，或加入一个远端")
	_ = label("help/list-machines-of-remote",
		"List the machines that meet through a remote",
		"列出通过某个远端会合的机器")
	_ = label("help/let-machine-into-remote",
		"Let another machine in, by its recipient",
		"凭接收者让另一台机器加入")
	_ = label("help/take-machine-out-of-remote",
		"Take a machine out: it can read nothing that is written from then on",
		"移除一台机器：此后写入的内容它都无法读取")
	_ = label("help/answer-machine-that-meets-over-ssh",
		"Answer the machine that meets this one over ssh",
		"应答通过 ssh 与本机会合的机器")
	_ = label("help/remotes-to-meet",
		"Folder, s3://BUCKET, ssh://[USER@]HOST[/PATH] or https://HOST; without one, those of the config file",
		"文件夹、s3://BUCKET、ssh://[USER@]HOST[/PATH] 或 https://HOST；不写则用配置文件中的")
	_ = label("help/only-take", "Only take what the others have", "只收下其他机器的内容")
	_ = label("help/only-give", "Only give what they lack", "只送出它们缺少的内容")
	_ = label("help/only-of-project", "Only conversations that are in this project here", "只同步此处属于该项目的对话")
	_ = label("help/say-what-sync-would-move", "Say what would be taken and given, and write nothing", "只说明将收到和送出什么，不写入")
	_ = label("help/take-all-purges", "Take purges too where more than ten come at once", "一次到来超过十个彻底删除时也执行")
	_ = label("help/sync-again-and-again",
		"Stay, and meet them at once, when something was said here, and every minute",
		"持续运行：立即会合，此处有新内容时会合，并每分钟会合一次")
	_ = label("help/folder-or-bucket-to-meet-through",
		"Folder or s3://BUCKET through which your machines meet, encrypted",
		"您的机器借以会合的文件夹或 s3://BUCKET，内容加密")
	_ = label("help/recovery-phrase-to-join-with",
		"Join with the recovery phrase; - reads it from standard input",
		"用恢复短语加入；- 表示从标准输入读取")
	_ = label("help/name-of-this-machine", "Name of this machine there (its host name)", "本机在那里的名称（默认主机名）")
	_ = label("help/name-of-that-machine", "Name of that machine there", "该机器在那里的名称")
	_ = label("help/recipient-of-machine",
		"Recipient of the machine, which scrollback identity prints on it",
		"该机器的接收者，在其上运行 scrollback identity 可得")
	_ = label("help/name-of-machine-to-remove", "Name or recipient of the machine", "该机器的名称或接收者")
	_ = label("help/take-all-another-store-has",
		"Take all that another store has into this one",
		"把另一个数据库中的全部内容并入这里")
	_ = label("help/folder-or-backup-to-take-from",
		"Data folder of the other store, or a backup of it; it is left as it is",
		"另一个数据文件夹，或它的备份；它保持原样")
	_ = label("help/say-what-merge-would-bring",
		"Say what would come, and write nothing",
		"只说明会带来什么，不写入")
	_ = label("help/print-digests-of-what-travels",
		"Print a digest of each conversation and of all: equal where two stores hold the same",
		"打印每个对话和全部内容的摘要：两个数据库内容相同时摘要相同")
	_ = label("help/encrypt-file-for-recipients",
		"Encrypt the file for this machine and the recipients of the config file.",
		"为本机和配置文件中的接收者加密文件。")
	_ = label("help/mask-what-is-written",
		"Take what looks like keys and passwords out of what is written.",
		"从写出的内容中去掉看起来像密钥和密码的部分。")
	_ = label("help/show-identity-of-machine",
		"Show the recipient for which this machine's files are encrypted; make an identity if there is none.",
		"显示为本机加密文件时使用的接收者；没有身份密钥时创建一个。")
	_ = label("help/make-verify-restore-backups",
		"Make, list, verify and restore backups of the whole store.",
		"创建、列出、检查和恢复整个存储的备份。")
	_ = label("help/make-backup-of-whole-store",
		"Make a backup of the whole store, while it is in use.",
		"在使用中为整个存储创建备份。")
	_ = label("help/list-backups",
		"List the backups in a folder or a bucket, newest first.",
		"列出文件夹或存储桶中的备份，最新的在前。")
	_ = label("help/check-backup",
		"Read a backup to its end and compare all of it with its hashes.",
		"完整读取一个备份，并与其中的散列比较。")
	_ = label("help/restore-backup",
		"Put what a backup has into an empty store.",
		"把备份的内容恢复到空的存储。")
	_ = label("help/where-backup-goes",
		"File to make, or a folder or bucket that gets one named by its time. Default: backup.to of the config file.",
		"要创建的文件；或者一个文件夹或存储桶，其中的备份以时间命名。默认：配置文件的 backup.to。")
	_ = label("help/how-long-backups-stay",
		"Remove older backups there once this one is made, such as 30d; never the newest.",
		"此备份完成后删除那里更早的备份，例如 30d；最新的永不删除。")
	_ = label("help/folder-or-bucket-with-backups",
		"Folder or bucket with backups. Default: backup.to of the config file.",
		"存放备份的文件夹或存储桶。默认：配置文件的 backup.to。")
	_ = label("help/backup-file",
		"File with the backup, or its URL in a bucket.",
		"备份文件，或其在存储桶中的 URL。")
	_ = label("help/copy-whole-store-another-database-while-use",
		"Copy the whole store to another database while it is in use, check the copy, and move there.",
		"在使用中把整个存储复制到另一个数据库，核对副本，然后迁移过去。")
	_ = label("help/database-copy",
		"The database to copy: sqlite:///PATH or postgres://USER:PASSWORD@HOST/DATABASE.",
		"要复制的数据库：sqlite:///PATH 或 postgres://USER:PASSWORD@HOST/DATABASE。")
	_ = label("help/database-copy-empty-or-from-earlier-run",
		"The database to copy to, empty or from an earlier run of the same.",
		"复制到的数据库：空的，或同一次迁移先前运行留下的。")
	_ = label("help/where-bytes-artifacts-as-objects",
		"Where the bytes of artifacts are, as in --objects. Default: the folder objects beside an SQLite database.",
		"附件字节所在的位置，写法同 --objects。默认：SQLite 数据库旁边的 objects 文件夹。")
	_ = label("help/where-bytes-artifacts-go-as-objects",
		"Where the bytes of artifacts go, as in --objects. Default: they stay where they are.",
		"附件字节要复制到的位置，写法同 --objects。默认：留在原处。")
	_ = label("help/close-source-changes-when-nearly-everything-copied",
		"Close the source for changes when nearly everything is copied, and copy the rest. Without it the source stays in use, and the next run goes on.",
		"几乎全部复制完后，禁止更改来源并复制剩余部分。不写时来源继续使用，下次运行接着复制。")
	_ = label("help/copy-nothing",
		"Copy nothing: let the database of --from be changed again, and forget that it was being moved.",
		"不复制：允许再次更改 --from 的数据库，并取消迁移。")
	_ = label("help/write-full-json-copy-conversation-beside-data",
		"Write a full JSON copy of a conversation beside its data; list and read such copies.",
		"在数据旁写一份对话的完整 JSON 副本；列出和读取这些副本。")
	_ = label("help/list-newest-copies-write-none",
		"List the newest full copies, and write none.",
		"列出最新的完整副本，不写入。")
	_ = label("help/copy-there",
		"A full copy that is there: read it, and write none. It goes to --output.",
		"已有的完整副本：读取它，不写入。内容输出到 --output。")
	_ = label("help/file-write-copy-as-well",
		"File to write the full copy to as well; - for standard output.",
		"同时写入完整副本的文件；- 表示标准输出。")
	_ = label("help/list-projects",
		"List projects; store what their conversations inherit.",
		"列出项目；保存其对话继承的设置。")
	_ = label("help/list-projects-how-many-conversations-they-have",
		"List projects, with how many conversations they have.",
		"列出项目及其对话数量。")
	_ = label("help/show-what-conversations-project-inherit",
		"Show what the conversations of a project inherit.",
		"显示项目的对话所继承的设置。")
	_ = label("help/name-project",
		"Name of the project.",
		"项目名称。")
	_ = label("help/store-what-conversations-project-inherit",
		"Store what the conversations of a project inherit; what is not given stays.",
		"保存项目的对话所继承的设置；未给出的保持不变。")
	_ = label("help/title",
		"Its title.",
		"项目的标题。")
	_ = label("help/file-instructions-stand-before-conversation-own",
		"File with the instructions that stand before a conversation's own; - for standard input.",
		"包含指令的文件，放在对话自己的指令之前；- 表示标准输入。")
	_ = label("help/policy-conversations-name-none",
		"Policy of conversations that name none. --model, --limit and --effort are stored too.",
		"未指定策略的对话所用的策略。--model、--limit 和 --effort 也会保存。")
	_ = label("help/number-policy",
		"A number of the policy (see the guide to compaction); may be repeated.",
		"策略的数值（见压缩指南），可重复。")
	_ = label("help/how-far-models-look",
		"How far models look: conversation, project or all.",
		"模型可查阅的范围：conversation、project 或 all。")
	_ = label("help/how-far-kept-sentences-go",
		"How far what people say that is kept goes: conversation, or project, so that new conversations begin with it.",
		"保留的话作用到多远：conversation；或 project，即新对话一开始就带上。")
	_ = label("help/how-clients-of-project-are-answered",
		"How clients of other APIs are answered in the project: faithful, window or record. Default: as the server does.",
		"项目中如何回答其他 API 的客户端：faithful、window 或 record。默认：与服务器相同。")
	_ = label("help/tokens-calls-may-use-day",
		"Tokens that its calls may use in a day.",
		"一天内调用可使用的 token 数。")
	_ = label("help/money-calls-may-cost-day",
		"Money that its calls may cost in a day; --currency says which.",
		"一天内调用可花费的金额；--currency 指定货币。")
	_ = label("help/currency-money",
		"Currency of the money, such as USD.",
		"金额的货币，例如 USD。")
	_ = label("help/empty",
		"Empty it: title, instructions, model, policy, limit, effort, recall_scope, keep, door, budget, or a number of the policy; may be repeated.",
		"清空：title、instructions、model、policy、limit、effort、recall_scope、keep、door、budget 或策略的某个数值，可重复。")
	_ = label("help/refuse-if-project-at-another-version",
		"Refuse if the project is at another version.",
		"如果项目已是别的版本则拒绝。")
	_ = label("help/remove-what-stored-project-no-conversation",
		"Remove what is stored of a project, and no conversation.",
		"删除为项目保存的内容，不删除对话。")
	_ = label("help/show-what-calls-models-have-cost",
		"Show what calls to models have cost.",
		"显示调用模型的花费。")
	_ = label("help/first-day",
		"First day.",
		"第一天。")
	_ = label("help/last-day",
		"Last day.",
		"最后一天。")
	_ = label("help/time-zone-days-meant-times-shown",
		"Time zone of the days that are meant and of the times that are shown, such as Europe/Madrid. Default: this machine's.",
		"所指日期与所示时间的时区，例如 Asia/Shanghai。默认为本机时区。")
	_ = label("help/group-any-day-model-project-key-conversation",
		"Group by any of day, model, project, key, conversation, purpose and tool.",
		"分组方式：day、model、project、key、conversation、purpose 和 tool 中的任意几项。")
	_ = label("help/list-models-set-up",
		"List the models that are set up.",
		"列出已配置的模型。")
	_ = label("help/forget-what-was-learned-from-model-server",
		"Forget what was learned from this model's server: its window, the parameters it refused, how strict its template is.",
		"忘记从此模型的服务器学到的内容：窗口、它拒绝的参数、模板的严格程度。")
	_ = label("help/make-list-limit-revoke-keys-others-use",
		"Make, list, limit and revoke the keys that others use a server with.",
		"创建、列出、限制和撤销供他人使用服务器的密钥。")
	_ = label("help/list-all-keys-oldest-first",
		"List all keys, oldest first (the default).",
		"列出所有密钥，最早的在前（默认）。")
	_ = label("help/make-key-print",
		"Make a key and print it: it is shown only once.",
		"创建密钥并输出：只显示这一次。")
	_ = label("help/what-key",
		"What the key is for, such as the person or program that uses it.",
		"密钥的用途，例如使用它的人或程序。")
	_ = label("help/what-may-do",
		"What it may do: read, write (say something, change, import, purge), or admin (also what concerns the whole server).",
		"可做的事：read、write（发言、更改、导入、清除）或 admin（还包括整个服务器的事务）。")
	_ = label("help/project",
		"Project it is for; may be repeated. What is made without naming a project goes into the first. Default: all projects.",
		"密钥适用的项目，可重复。未指定项目时新建的内容归入第一个。默认：所有项目。")
	_ = label("help/when-ends",
		"When it ends: after a time such as 12h, 90d or 2w. Default: when it is revoked.",
		"何时到期：经过一段时间，例如 12h、90d 或 2w。默认：撤销之前一直有效。")
	_ = label("help/how-clients-of-key-are-answered",
		"How clients of other APIs that come with the key are answered: faithful, window or record. Default: as its project says.",
		"持此密钥的其他 API 客户端如何回答：faithful、window 或 record。默认：由其项目决定。")
	_ = label("help/show-or-set-what-key-may-do",
		"Show or set what a key may do: chats in a period, tokens or money a day.",
		"显示或设置密钥的限制：一段时间内的对话数，一天的 token 数或金额。")
	_ = label("help/chats-period",
		"Chats in a period: a number per s, m, h or d, such as 100/h; off for no limit; default for the server's.",
		"一段时间内的对话数：每 s、m、h 或 d 的次数，例如 100/h；off 表示不限；default 表示服务器的设置。")
	_ = label("help/tokens-day",
		"Tokens a day (UTC); 0 for no limit.",
		"一天（UTC）的 token 数；0 表示不限。")
	_ = label("help/money-day",
		"Money a day (UTC); 0 for no limit.",
		"一天（UTC）的金额；0 表示不限。")
	_ = label("help/currency-money-2",
		"Currency of the money. Default: USD.",
		"金额的货币。默认：USD。")
	_ = label("help/id-or-name-key",
		"Id or name of the key.",
		"密钥的 id 或名称。")
	_ = label("help/end-key",
		"End a key; servers refuse it within a second.",
		"撤销密钥；服务器会在一秒内拒绝它。")
	_ = label("help/copy-database-then-repair-what-can-repaired",
		"Copy the database, then repair what can be repaired.",
		"先复制数据库，再修复能修复的问题。")
	_ = label("help/repair",
		"With --repair: make no copy, because there is one already, such as a dump of pg_dump.",
		"与 --repair 一起：不再复制，因为已经有一份，例如 pg_dump 的备份。")
	_ = label("help/explain-command",
		"Explain a command.",
		"解释一个命令。")
	_ = label("help/command-explain",
		"Command to explain.",
		"要解释的命令。")
	_ = label("help/print-what-shell-needs-complete-commands",
		"Print what a shell needs to complete the commands.",
		"输出 shell 补全命令所需的脚本。")
	_ = label("help/shell",
		"Shell: bash, zsh or fish.",
		"shell：bash、zsh 或 fish。")
	_ = label("help/print-manual-page",
		"Print the manual page.",
		"输出手册页。")
	_ = label("help/what-stands-on-line-so-far",
		"What stands on the line so far.",
		"目前行中已有的内容。")
	_ = label("help/what-line-may-go-on",
		"What the line may go on with.",
		"这一行可以如何继续。")
)

// What else the help says.
var (
	HelpUsage = label("help-usage",
		"Usage",
		"用法")
	HelpArguments = label("help-arguments",
		"Arguments",
		"参数")
	HelpFlags = label("help-flags",
		"Flags",
		"选项")
	HelpCommands = label("help-commands",
		"Commands",
		"命令")
	HelpAlso = label("help-also",
		"Also",
		"另有")
	HelpExample = label("help-example",
		"Example",
		"示例")
	HelpGlobalFlags = label("help-global-flags",
		"Flags of every command, before or after its name",
		"每个命令的选项，写在命令名之前或之后")
	HelpEnvironment = label("help-environment",
		"Environment; a flag overrides it, and it overrides the config file",
		"环境变量；选项优先于环境变量，环境变量优先于配置文件")
	HelpOfCommand = label("help-of-command",
		"scrollback help COMMAND explains a command, with an example.",
		"scrollback help COMMAND 解释一个命令，并附示例。")
	HelpStartWith = label("help-start-with",
		"Start with these; no key is needed:",
		"可从这些开始，不需要密钥：")
	ManName = label("man-name",
		"NAME",
		"名称")
	ManPurpose = label("man-purpose",
		"keep conversations with language models, and send what fits",
		"保存与语言模型的对话，并发送放得下的内容")
	ManSynopsis = label("man-synopsis",
		"SYNOPSIS",
		"概要")
	ManDescription = label("man-description",
		"DESCRIPTION",
		"描述")
	ManCommands = label("man-commands",
		"COMMANDS",
		"命令")
	ManOptions = label("man-options",
		"OPTIONS",
		"选项")
	ManEnvironment = label("man-environment",
		"ENVIRONMENT",
		"环境变量")
	ManExitStatus = label("man-exit-status",
		"EXIT STATUS",
		"退出状态")
	ManExamples = label("man-examples",
		"EXAMPLES",
		"示例")
	HelpAbout = label("help-about",
		"scrollback keeps every conversation with a language model for ever, and sends the model\nthe best of it that fits its window. What no longer fits is compacted, never lost.",
		"scrollback 永久保存与语言模型的每个对话，并把窗口放得下的最佳内容发给模型。\n放不下的内容会被压缩，绝不丢失。")
	GroupChat = label("group-chat",
		"Chat",
		"聊天")
	GroupNotebooks = label("group-notebooks",
		"Notebooks",
		"笔记本")
	GroupRead = label("group-read",
		"Read",
		"阅读")
	GroupCompact = label("group-compact",
		"Compact",
		"压缩")
	GroupGoBack = label("group-go-back",
		"Go back",
		"回到过去")
	GroupMove = label("group-move",
		"Move",
		"迁移")
	GroupShare = label("group-share",
		"Share",
		"共享")
	GroupCare = label("group-care",
		"Care",
		"维护")
	GroupShell = label("group-shell",
		"Shell",
		"终端")
	VariableStore = label("variable-store",
		"database: postgres://…, sqlite:///…",
		"数据库：postgres://…、sqlite:///…")
	VariableData = label("variable-data",
		"folder that holds the data",
		"存放数据的文件夹")
	VariableObjects = label("variable-objects",
		"where the bytes of artifacts are kept: s3://…, file:///…",
		"附件字节的存放位置：s3://…、file:///…")
	VariableBackup = label("variable-backup",
		"folder or bucket for the backup that serve makes each night",
		"serve 每晚创建的备份所存放的文件夹或存储桶")
	VariableIdentity = label("variable-identity",
		"the identity that opens encrypted files, or a file with it",
		"打开加密文件的身份密钥，或存放它的文件")
	VariableDownloads = label("variable-downloads",
		"server or signed: whether artifacts are fetched from the bucket",
		"server 或 signed：附件是否直接从存储桶下载")
	VariableConfig = label("variable-config",
		"config file",
		"配置文件")
	VariableModel = label("variable-model",
		"model, as provider/name; offline needs no key",
		"模型，写作 provider/name；offline 不需要密钥")
	VariableLimit = label("variable-limit",
		"window of the model in tokens",
		"模型的窗口大小（token 数）")
	VariableAddr = label("variable-addr",
		"address that serve listens on",
		"serve 监听的地址")
	VariablePolicy = label("variable-policy",
		"how new conversations are compacted",
		"新对话的压缩方式")
	VariableSummaryModel = label("variable-summary-model",
		"models to ask for summaries, separated by commas",
		"写摘要的模型，以逗号分隔")
	VariableTitles = label("variable-titles",
		"where titles come from: model, prompt or off",
		"标题的来源：model、prompt 或 off")
	VariableTitleModel = label("variable-title-model",
		"model to ask for titles",
		"起标题的模型")
	VariableSearxng = label("variable-searxng",
		"address of a SearXNG server that searches the web",
		"联网搜索所用的 SearXNG 服务器地址")
	VariableWebSearch = label("variable-web-search",
		"who searches the web: auto, provider, searxng or off",
		"由谁联网搜索：auto、provider、searxng 或 off")
	VariableRateLimit = label("variable-rate-limit",
		"chats that each key, or else address, may begin, such as 100/h",
		"每个密钥（或地址）的对话频率，例如 100/h")
	VariableGrace = label("variable-grace",
		"how long serve goes on once it is told to end, such as 5s",
		"serve 收到结束信号后继续服务的时间，例如 5s")
	VariableLogLevel = label("variable-log-level",
		"what is logged: debug, info, warn or error",
		"日志级别：debug、info、warn 或 error")
	VariableLogFormat = label("variable-log-format",
		"form of the log: text or json",
		"日志格式：text 或 json")
	VariableHooks = label("variable-hooks",
		"off: other agents are told nothing unasked.",
		"off：不主动告知其他智能体任何内容。")
	VariableOpenaiApiKey = label("variable-openai-api-key",
		"key of a provider: its name in capitals, then _API_KEY",
		"提供商的密钥：大写的名称加 _API_KEY")
	HelpHeading = label("help-heading",
		"%s:",
		"%s：")
	ExitDone = label("exit-done",
		"done",
		"完成")
	ExitRefused = label("exit-refused",
		"refused, or an internal error; doctor found problems",
		"被拒绝或内部错误；doctor 发现问题")
	ExitWrongUsage = label("exit-wrong-usage",
		"wrong usage",
		"用法错误")
	ExitNotFound = label("exit-not-found",
		"not found",
		"找不到")
	ExitConflict = label("exit-conflict",
		"conflict",
		"冲突")
	ExitOverBudget = label("exit-over-budget",
		"over the budget",
		"超出预算")
	ExitUnavailable = label("exit-unavailable",
		"a model or a server is not available",
		"模型或服务器不可用")
	ExitInterrupted = label("exit-interrupted",
		"interrupted",
		"被中断")
	HelpListsCommands = label("help-lists-commands",
		"(scrollback help lists the commands)",
		"（scrollback help 列出命令）")
)
