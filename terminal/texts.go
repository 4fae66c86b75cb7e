package terminal

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// Texts is what the chat itself says, in one language. Those with verbs take the
// arguments that their comments name, in that order.
type Texts struct {
	Greeting    string // model
	Resumed     string // title, messages
	Earlier     string // number of messages not shown
	Ended       string // conversation
	Placeholder string
	Working     string
	Stopping    string
	Interrupted string
	Assumed     string // model, tokens its window is assumed to have
	Reference   string // what could not be read, why
	Compacting  string
	Compacted   string // first seq, last seq, tokens before, after
	Nothing     string
	Unknown     string // command
	Missing     string // command, what it takes
	Model       string // model
	Titled      string // title
	Status      string // model, tokens, budget
	NewThread   string
	Keys        string
	Offline     string
	Help        map[string]string // by command
	Results     map[scrollback.CompactionResult]string
	Unchanged   string // text of a result
	NoReceipts  string
	NewFolder   string // path
	Cleared     string // marks a receipt, as do the next two
	Checked     string
	Undone      string
	Inherited   string
	Pick        string
	PickKeys    string
	ResumeHint  string
	RewindHint  string
	BranchHint  string
	Rewound     string // messages
	Notebook    NotebookTexts
	CopyOf      string // title of what is forked
	Saved       string // file
	Added       string // folder
	TypePrompt  string
	NoInput     string // how long
	TakesConversation,
	TakesSeq,
	TakesNumber,
	TakesFolder,
	TakesFile string
	TakesPattern string
	TakesWords   string
	TakesName    string
	TakesTitle   string
	Unread       map[string]string // why a reference could not be read, in other words
	Trouble      TroubleTexts
	Web          WebTexts
}

// TroubleTexts say what went wrong with a turn and what to do about it.
type TroubleTexts struct {
	States  map[scrollback.TurnState]string
	Reasons map[string]string // by finish reason
	Cause   string            // what the provider said
	Todo    string            // advice
	Again   string            // what to type
	Mark    string            // a state beside what was said
	Why     string            // a state, the reason
	Advice  map[scrollback.Advice]string
	Setting map[scrollback.Advice]string // the same where a setting is known, which it takes
}

var english = Texts{
	Unread: map[string]string{
		"refused: outside the roots":             "refused: outside the roots; --root or /add adds one",
		"refused: no folder was granted":         "refused: no folder was granted; --root or /add adds one",
		"refused: remote images are not allowed": "refused: images on the web are not allowed",
		"not found":                              "not found",
		"not readable":                           "it cannot be read",
		"not readable: permission denied":        "it cannot be read: no permission",
		"not a regular file":                     "not a regular file",
	},
	Web: WebTexts{On: "each question now searches the web first; /web ends that", Off: "questions no longer search the web", Searching: "searching the web…",
		Searched: "searched the web: %s", Nothing: "found nothing", Failed: "no web search: %s", Sources: "Sources:"},
	Greeting:    "scrollback · %s · /help lists the commands, Ctrl-D quits",
	Resumed:     "%s · %s messages",
	Earlier:     "… %s earlier messages",
	Ended:       "To continue later: scrollback chat %s",
	Placeholder: "Ask anything",
	Working:     "answering… Ctrl-C stops",
	Stopping:    "stopping…",
	Interrupted: "interrupted; what was written so far is saved",
	Assumed:     "the window of %s is not known: %s tokens are assumed; --limit sets it",
	Reference:   "@[%s]: %s",
	Compacting:  "compacting…",
	Compacted:   "compacted #%d–#%d: %s → %s tokens",
	Nothing:     "Nothing has been said yet.",
	Unknown:     "No such command: %s; /help lists them. To send a line that begins with a slash, type two.",
	Missing:     "%s needs %s",
	Model:       "model: %s",
	Titled:      "title: %s",
	Status:      "%s · %s of %s tokens",
	NewThread:   "new conversation",
	Keys:        "Alt+Enter, or \\ at the end of a line: new line · Up, Down: earlier questions · Ctrl-C: stop, or quit",
	Offline:     "the built-in offline model only quotes what was said; choose a real one with --model or /model",
	Help: map[string]string{
		"/help":      "this list",
		"/resume":    "continue another conversation; without an argument, list them",
		"/rewind":    "go back to a message; without an argument, list the questions",
		"/retry":     "answer the last question again",
		"/branches":  "list the branches, or switch to one",
		"/fork":      "continue in a new conversation, from here or from a message",
		"/add":       "add a folder to work in",
		"/save":      "write the conversation to a file (.bundle, .jsonl, .gemini.jsonl)",
		"/context":   "show what the next request sends",
		"/compact":   "compact old messages now; refs lead back to them",
		"/uncompact": "undo the newest compaction",
		"/clear":     "compact everything so far and start afresh",
		"/receipts":  "list the compactions and what they saved",
		"/pin":       "keep a message in sight, or unpin it; without an argument, list the pins",
		"/refs":      "list what is compacted or attached",
		"/grep":      "find lines of this conversation, compacted or not (RE2)",
		"/search":    "find messages in all conversations by words",
		"/model":     "show the model, or choose another",
		"/web":       "search the web before each answer, or no longer",
		"/title":     "give the conversation a title",
		"/quit":      "quit",
	},
	Results: map[scrollback.CompactionResult]string{
		scrollback.ResultCompacted:    "compacted",
		scrollback.ResultNoop:         "there is nothing to compact yet",
		scrollback.ResultInflated:     "compacting would save next to nothing",
		scrollback.ResultEmptySummary: "the model gave no usable summary",
		scrollback.ResultModelError:   "the model failed to write a summary",
		scrollback.ResultConflict:     "the conversation changed meanwhile; try again",
	},
	Unchanged:         "Nothing changed: %s.",
	NoReceipts:        "Nothing has been compacted yet.",
	NewFolder:         "%s is new and holds no conversations; --data or SCROLLBACK_DATA names another folder.",
	Cleared:           "cleared",
	Checked:           "checked",
	Undone:            "undone",
	Inherited:         "inherited",
	Pick:              "Conversations",
	PickKeys:          "↑ ↓ choose · Enter continues · / filters · Esc starts a new one",
	ResumeHint:        "/resume N continues one of them",
	RewindHint:        "/rewind N makes message N the newest: to ask #7 again, /rewind 6",
	BranchHint:        "/branches N switches to the Nth of them",
	CopyOf:            scrollback.CopyOf,
	Rewound:           "back at message %s; what followed stays on its branch",
	Notebook:          englishNotebook,
	Saved:             "saved as %s",
	Added:             "the conversation now works in %s too",
	TypePrompt:        "(type the message; Ctrl-D on a new line ends it)",
	NoInput:           "(nothing came on standard input within %s, so only the prompt is sent; --stdin wait waits for it, --stdin ignore does not look)",
	TakesFolder:       "DIR",
	TakesConversation: "[ID|latest|N]",
	TakesSeq:          "[SEQ]",
	TakesNumber:       "[N]",
	TakesFile:         "FILE",
	TakesPattern:      "PATTERN",
	TakesWords:        "WORDS",
	TakesName:         "[NAME]",
	TakesTitle:        "TITLE",
	Trouble: TroubleTexts{
		States: map[scrollback.TurnState]string{
			scrollback.TurnOpen:        "still being answered",
			scrollback.TurnInterrupted: "interrupted",
			scrollback.TurnFailed:      "failed",
			scrollback.TurnOverBudget:  "does not fit the window",
			scrollback.TurnComplete:    "ended early",
		},
		Reasons: map[string]string{
			scrollback.FinishMaxSteps:  "the model had used up its look-ups and was told to answer",
			scrollback.FinishLength:    "the answer reached the length the model may write",
			scrollback.FinishTruncated: "the answer broke off without an end",
			scrollback.FinishBound:     "the answer exceeded a bound and was stopped",
		},
		Cause: "the server said: %s",
		Todo:  "what to do: %s",
		Again: "to have it answered again: %s",
		Mark:  "(%s)",
		Why:   "%s: %s",
		Advice: map[scrollback.Advice]string{
			scrollback.AdviceSetKey:       "set a key",
			scrollback.AdviceCheckKey:     "check the key",
			scrollback.AdviceTopUp:        "top up the account, or use another key",
			scrollback.AdviceCheckAddress: "check the address of the server, and whether it runs",
			scrollback.AdviceChooseModel:  "choose another model: scrollback models lists them",
			scrollback.AdviceRaiseLimit:   "set a larger window, or shorten the request",
			scrollback.AdviceRephrase:     "say it in other words, or choose another model",
			scrollback.AdviceWait:         "wait a while, then try again",
			scrollback.AdviceRetry:        "try again",
		},
		Setting: map[scrollback.Advice]string{
			scrollback.AdviceSetKey:       "set %s",
			scrollback.AdviceCheckKey:     "check the key in %s",
			scrollback.AdviceTopUp:        "top up the account, or put another key in %s",
			scrollback.AdviceCheckAddress: "check the address in %s, and whether the server runs",
			scrollback.AdviceRaiseLimit:   "set a larger window with %s, or shorten the request",
		},
	},
}

var chinese = Texts{
	Unread: map[string]string{
		"refused: outside the roots":             "已拒绝：不在允许的文件夹之内；可用 --root 或 /add 添加",
		"refused: no folder was granted":         "已拒绝：没有允许任何文件夹；可用 --root 或 /add 添加",
		"refused: remote images are not allowed": "已拒绝：不允许网络上的图片",
		"not found":                              "找不到",
		"not readable":                           "无法读取",
		"not readable: permission denied":        "无法读取：没有权限",
		"not a regular file":                     "不是普通文件",
	},
	Web: WebTexts{On: "之后每次提问都会先联网搜索；再次输入 /web 关闭", Off: "提问时不再联网搜索", Searching: "正在联网搜索……",
		Searched: "已联网搜索：%s", Nothing: "没有找到结果", Failed: "未能联网搜索：%s", Sources: "来源："},
	Greeting:    "scrollback · %s · /help 列出命令，Ctrl-D 退出",
	Resumed:     "%s · %s 条消息",
	Earlier:     "…… 之前还有 %s 条消息",
	Ended:       "以后继续：scrollback chat %s",
	Placeholder: "想问什么？",
	Working:     "正在回答…… Ctrl-C 停止",
	Stopping:    "正在停止……",
	Interrupted: "已中断；已写出的部分已保存",
	Assumed:     "不知道 %s 的上下文窗口有多大，暂按 %s 个 token 计算；可用 --limit 指定",
	Reference:   "@[%s]：%s",
	Compacting:  "正在压缩……",
	Compacted:   "已压缩 #%d–#%d：%s → %s 个 token",
	Nothing:     "还没有任何内容。",
	Unknown:     "没有命令 %s；/help 列出全部命令。要发送以斜杠开头的一行，请写两个斜杠。",
	Missing:     "%s 需要 %s",
	Model:       "模型：%s",
	Titled:      "标题：%s",
	Status:      "%s · %s / %s token",
	NewThread:   "新对话",
	Keys:        "Alt+Enter 或行尾的 \\：换行 · 上下键：之前的提问 · Ctrl-C：停止或退出",
	Offline:     "内置的 offline 模型只会引用说过的话；用 --model 或 /model 换成真正的模型",
	Help: map[string]string{
		"/help":      "本列表",
		"/resume":    "继续另一个对话；不带参数则列出",
		"/rewind":    "回到某条消息；不带参数则列出之前的提问",
		"/retry":     "重新回答最后一个问题",
		"/branches":  "列出分支，或切换到其中一个",
		"/fork":      "从这里或某条消息处另开一个对话继续",
		"/add":       "再加一个工作文件夹",
		"/save":      "把对话写入文件（.bundle、.jsonl 或 .gemini.jsonl）",
		"/context":   "显示下一次请求会发送的内容",
		"/compact":   "立即压缩旧消息；原文可经引用读回",
		"/uncompact": "撤销最近一次压缩",
		"/clear":     "压缩到目前为止的全部内容，重新开始",
		"/receipts":  "列出历次压缩及其节省的空间",
		"/pin":       "固定一条消息，压缩后仍逐字可见，再次执行则取消；不带参数则列出",
		"/refs":      "列出已压缩或附加的内容",
		"/grep":      "在本对话中按正则表达式查找行，无论是否已压缩（RE2）",
		"/search":    "按词语查找所有对话中的消息",
		"/model":     "显示或更换模型",
		"/web":       "回答前先联网搜索，再次执行则关闭",
		"/title":     "给对话起标题",
		"/quit":      "退出",
	},
	Results: map[scrollback.CompactionResult]string{
		scrollback.ResultCompacted:    "已压缩",
		scrollback.ResultNoop:         "目前没有可压缩的内容",
		scrollback.ResultInflated:     "压缩几乎省不下空间",
		scrollback.ResultEmptySummary: "模型没有给出可用的摘要",
		scrollback.ResultModelError:   "模型未能写出摘要",
		scrollback.ResultConflict:     "对话同时发生了变化，请重试",
	},
	Unchanged:         "没有变化：%s。",
	NoReceipts:        "还没有压缩过。",
	NewFolder:         "%s 是新的，里面还没有对话；可用 --data 或 SCROLLBACK_DATA 指定别的文件夹。",
	Cleared:           "重新开始",
	Checked:           "已核对",
	Undone:            "已撤销",
	Inherited:         "继承而来",
	Pick:              "对话",
	PickKeys:          "↑ ↓ 选择 · Enter 继续 · / 筛选 · Esc 开始新对话",
	ResumeHint:        "/resume N 继续其中一个对话",
	RewindHint:        "/rewind N 让第 N 条消息成为最新：要重新问 #7，请用 /rewind 6",
	BranchHint:        "/branches N 切换到第 N 个分支",
	CopyOf:            scrollback.CopyOfChinese,
	Rewound:           "回到第 %s 条消息；之后的内容留在它的分支上",
	Notebook:          chineseNotebook,
	Saved:             "已保存为 %s",
	Added:             "对话现在也在 %s 中工作",
	TypePrompt:        "（请输入消息；在新的一行按 Ctrl-D 结束）",
	NoInput:           "（标准输入在 %s 内没有内容，因此只发送提示；--stdin wait 会一直等待，--stdin ignore 则不读取）",
	TakesFolder:       "文件夹",
	TakesConversation: "[ID|latest|序号]",
	TakesSeq:          "[消息号]",
	TakesNumber:       "[序号]",
	TakesFile:         "文件",
	TakesPattern:      "正则表达式",
	TakesWords:        "词语",
	TakesName:         "[名称]",
	TakesTitle:        "标题",
	Trouble: TroubleTexts{
		States: map[scrollback.TurnState]string{
			scrollback.TurnOpen:        "正在回答",
			scrollback.TurnInterrupted: "已中断",
			scrollback.TurnFailed:      "失败",
			scrollback.TurnOverBudget:  "超出窗口",
			scrollback.TurnComplete:    "提前结束",
		},
		Reasons: map[string]string{
			scrollback.FinishMaxSteps:  "模型已用完查阅次数，只好直接作答",
			scrollback.FinishLength:    "回答达到了模型可写的最大长度",
			scrollback.FinishTruncated: "回答没有写完就断开了",
			scrollback.FinishBound:     "回答超出上限，已停止",
		},
		Cause: "服务器的说明：%s",
		Todo:  "怎么办：%s",
		Again: "要重新回答：%s",
		Mark:  "（%s）",
		Why:   "%s：%s",
		Advice: map[scrollback.Advice]string{
			scrollback.AdviceSetKey:       "设置密钥",
			scrollback.AdviceCheckKey:     "检查密钥",
			scrollback.AdviceTopUp:        "给账户充值，或换一个密钥",
			scrollback.AdviceCheckAddress: "检查服务器地址，以及它是否在运行",
			scrollback.AdviceChooseModel:  "换一个模型：用 scrollback models 查看",
			scrollback.AdviceRaiseLimit:   "调大窗口，或缩短请求",
			scrollback.AdviceRephrase:     "换一种说法，或换一个模型",
			scrollback.AdviceWait:         "稍等一会儿再试",
			scrollback.AdviceRetry:        "再试一次",
		},
		Setting: map[scrollback.Advice]string{
			scrollback.AdviceSetKey:       "设置 %s",
			scrollback.AdviceCheckKey:     "检查 %s 中的密钥",
			scrollback.AdviceTopUp:        "给账户充值，或在 %s 中换一个密钥",
			scrollback.AdviceCheckAddress: "检查 %s 中的地址，以及服务器是否在运行",
			scrollback.AdviceRaiseLimit:   "用 %s 调大窗口，或缩短请求",
		},
	},
}

// Result is a compaction's result as a person reads it.
func (t Texts) Result(r scrollback.CompactionResult) string {
	return cmp.Or(t.Results[r], string(r))
}

// why says why a model that was asked gave no summary; empty if it did.
func (t Texts) why(r scrollback.Receipt) string {
	if r.SummaryResult == "" {
		return ""
	}
	if r.SummaryWhy == "" {
		return t.Result(r.SummaryResult)
	}
	return fmt.Sprintf(t.Trouble.Why, t.Result(r.SummaryResult), Clip(r.SummaryWhy, noteWidth))
}

// TextsOf is the table for a locale as the environment names it, in the order
// LC_ALL, LC_MESSAGES, LANG: the first that is not empty decides.
func TextsOf(locales ...string) Texts {
	for _, l := range locales {
		if l != "" {
			if strings.HasPrefix(strings.ToLower(l), "zh") {
				return chinese
			}
			return english
		}
	}
	return english
}
