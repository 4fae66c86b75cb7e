package i18n

// Sentences of errors of notebooks.
var (
	NothingToCompress = problem("nothing-to-compress",
		"there is nothing to compress: no cell of the notebook says anything",
		"没有可压缩的内容：笔记本的单元格都是空的")
	NotebookNotCompressed = problem("notebook-not-compressed",
		"the notebook could not be compressed: %s",
		"无法压缩笔记本：%s")
	NotebookConversationInTrash = problem("notebook-conversation-in-trash",
		"conversation %s of this notebook is in the trash: restore it first",
		"此笔记本的对话 %s 在回收站中：请先取回")
	NotebookIsBeingRun = problem("notebook-is-being-run",
		"a cell of this notebook is being run; wait for it, or stop it",
		"此笔记本有单元格正在运行：请等待或停止它")
	MetaHoldsNoNotebook = problem("meta-holds-no-notebook",
		"the meta of conversation %s is not an object, so no notebook can be noted in it",
		"对话 %s 的 meta 不是对象，无法在其中记录笔记本")
	CellFailed = problem("cell-failed",
		"cell %d: %w",
		"单元格 %d：%w")
	CellWasChanged = problem("cell-was-changed",
		"what was cell %d has been changed or removed; it and those below it were not run",
		"原来的单元格 %d 已被更改或删除；它和下面的单元格没有运行")
	CellNotInNotebook = problem("cell-not-in-notebook",
		"the cell is not in the notebook",
		"单元格不在笔记本中")
	CannotBeWritten = problem("cannot-be-written",
		"%s cannot be written: %w",
		"无法写入 %s：%w")
	NotebookNameHasNoEnding = problem("notebook-name-has-no-ending",
		"%s: the name of a notebook ends with .ipynb or .mtm",
		"%s：笔记本的名称以 .ipynb 或 .mtm 结尾")
	IsThereAlready = problem("is-there-already",
		"%s is there already",
		"%s 已经存在")
	NoFolderThere = problem("no-folder-there",
		"there is no folder %s",
		"没有文件夹 %s")
	FolderIsNoNotebook = problem("folder-is-no-notebook",
		"%s is a folder, not a notebook",
		"%s 是文件夹，不是笔记本")
	IsNotAFile = problem("is-not-a-file",
		"%s is not a file",
		"%s 不是文件")
	NotebookTooLarge = problem("notebook-too-large",
		"%s has %d bytes; a notebook has at most %d",
		"%s 有 %d 字节；笔记本最多 %d 字节")
	NotebookLargerThan = problem("notebook-larger-than",
		"%s has more than %d bytes; a notebook has at most that",
		"%s 超过 %d 字节，这是笔记本的上限")
	NotebookIsReadOnly = problem("notebook-is-read-only",
		"%s is read-only: what is said to its cells could not be kept",
		"%s 是只读的：对其单元格所说的内容无法保存")
	NoFileThere = problem("no-file-there",
		"there is no file %s",
		"没有文件 %s")
	NoCellCanBeRun = problem("no-cell-can-be-run",
		"the notebook has no cell that can be run; add one: --cell new PROMPT",
		"笔记本中没有可运行的单元格；请添加一个：--cell new PROMPT")
	CellFlagTakes = problem("cell-flag-takes",
		"--cell takes the number of a cell, last, all or new, not %q",
		"--cell 为单元格的编号、last、all 或 new，不能是 %q")
	NoCellNumbered = problem("no-cell-numbered",
		"there is no cell %d: the notebook has %d",
		"没有第 %d 个单元格：笔记本共有 %d 个")
	CellRoleCannotBeRun = problem("cell-role-cannot-be-run",
		"cell %d cannot be run: its role is %s",
		"单元格 %d 不能运行：它的角色是 %s")
	CellIsTextNotPrompt = problem("cell-is-text-not-prompt",
		"cell %d cannot be run: it is text, not a prompt",
		"单元格 %d 不能运行：它是文本，不是提问")
	CellIsEmpty = problem("cell-is-empty",
		"cell %d is empty",
		"单元格 %d 是空的")
	PromptIsForNewCell = problem("prompt-is-for-new-cell",
		"a prompt is for --cell new; cell %s has its own",
		"提问用于 --cell new；单元格 %s 有自己的内容")
	NotebookNotWritten = problem("notebook-not-written",
		"%s was not written: others kept changing it",
		"%s 没有写入：其他程序一直在更改它")
	NotebookWouldBeTooLarge = problem("notebook-would-be-too-large",
		"%s would have %d bytes; a notebook has at most %d",
		"%s 将有 %d 字节；笔记本最多 %d 字节")
)
