package terminal

import "strings"

// Texts is what the chat itself says, in one language. Those with verbs take, in
// this order, what their names say.
type Texts struct {
	Greeting    string // model
	Resumed     string // title, messages
	Earlier     string // how many messages are not shown
	Ended       string // conversation
	Placeholder string
	Working     string
	Stopping    string
	Interrupted string
	Assumed     string // what a model's window is taken to be: its name and tokens
	Folded      string // first seq, last seq, tokens before, after
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
	Pick        string
	PickKeys    string
	ResumeHint  string
	RewindHint  string
	BranchHint  string
	Rewound     string // messages
	Unfinished  string
	Saved       string // file
	Added       string // folder
	TakesConversation,
	TakesSeq,
	TakesNumber,
	TakesFolder,
	TakesFile string
	TakesPattern string
	TakesWords   string
	TakesName    string
	TakesTitle   string
}

var english = Texts{
	Greeting:    "scrollback · %s · /help lists the commands, Ctrl-D leaves",
	Resumed:     "%s · %s messages",
	Earlier:     "… %s earlier messages",
	Ended:       "Go on later: scrollback chat %s",
	Placeholder: "Ask anything",
	Working:     "answering… Ctrl-C stops",
	Stopping:    "stopping…",
	Interrupted: "interrupted; what was written is saved",
	Assumed:     "nothing is known of the window of %s: %s tokens are assumed; --limit names it",
	Folded:      "folded #%d–#%d: %s → %s tokens",
	Nothing:     "Nothing has been said yet.",
	Unknown:     "There is no command %s; /help lists them. To send a line that begins with a slash, begin it with two.",
	Missing:     "%s needs %s",
	Model:       "model: %s",
	Titled:      "title: %s",
	Status:      "%s · %s of %s tokens",
	NewThread:   "new conversation",
	Keys:        "Alt+Enter or a \\ at the end of a line: a line more · Up, Down: what was asked before · Ctrl-C: stop, or leave",
	Offline:     "the built-in offline model only quotes what was said; --model or /model takes a real one",
	Help: map[string]string{
		"/help":      "this list",
		"/resume":    "go on with another conversation; alone, list them",
		"/rewind":    "go back to a message; alone, list what was asked",
		"/retry":     "answer the last question anew",
		"/branches":  "list the branches, or go over to one",
		"/fork":      "go on in a new conversation, from here or from a message",
		"/add":       "work in a folder more",
		"/save":      "write the conversation to a file (.jsonl, .gemini.jsonl)",
		"/context":   "what the next request sends",
		"/compact":   "fold old messages behind refs now",
		"/uncompact": "undo the newest fold",
		"/clear":     "fold everything so far: start afresh",
		"/receipts":  "what was folded, and what it saved",
		"/pin":       "keep a message in sight when it is folded, or no longer; alone, list those",
		"/refs":      "what is folded or attached",
		"/grep":      "find lines of this conversation, folded or not (RE2)",
		"/search":    "find messages of all conversations by words",
		"/model":     "show the model, or take another",
		"/title":     "give the conversation a title",
		"/quit":      "leave",
	},
	Pick:              "Conversations",
	PickKeys:          "↑ ↓ choose · Enter goes on · / filters · Esc starts a new one",
	ResumeHint:        "/resume N goes on with one of them",
	RewindHint:        "/rewind N makes message N the newest: to ask #7 anew, /rewind 6",
	BranchHint:        "/branches N goes over to the Nth of them",
	Unfinished:        "(interrupted)",
	Rewound:           "back at message %s; what followed stays on its branch",
	Saved:             "saved as %s",
	Added:             "the conversation works in %s too",
	TakesFolder:       "DIR",
	TakesConversation: "[ID|latest|N]",
	TakesSeq:          "[SEQ]",
	TakesNumber:       "[N]",
	TakesFile:         "FILE",
	TakesPattern:      "PATTERN",
	TakesWords:        "WORDS",
	TakesName:         "[NAME]",
	TakesTitle:        "TITLE",
}

var chinese = Texts{
	Greeting:    "scrollback · %s · /help 列出命令，Ctrl-D 离开",
	Resumed:     "%s · %s 条消息",
	Earlier:     "…… 之前还有 %s 条消息",
	Ended:       "以后继续：scrollback chat %s",
	Placeholder: "想问什么?",
	Working:     "正在回答…… Ctrl-C 停止",
	Stopping:    "正在停止……",
	Interrupted: "已中断；写出的部分已保存",
	Assumed:     "不知道 %s 的上下文窗口有多大，暂按 %s 个 token 计算；可用 --limit 指定",
	Folded:      "已折叠 #%d–#%d:%s → %s 个 token",
	Nothing:     "还没有说过话。",
	Unknown:     "没有命令 %s；/help 列出全部命令。要发送以斜杠开头的一行，请写两个斜杠。",
	Missing:     "%s 需要 %s",
	Model:       "模型：%s",
	Titled:      "标题：%s",
	Status:      "%s · %s / %s token",
	NewThread:   "新对话",
	Keys:        "Alt+Enter 或行尾的 \\：换行 · 上下键：问过的话 · Ctrl-C：停止或离开",
	Offline:     "内置的 offline 模型只会引用说过的话；用 --model 或 /model 换真正的模型",
	Help: map[string]string{
		"/help":      "本列表",
		"/resume":    "继续另一个对话；不带参数则列出",
		"/rewind":    "回到某条消息；不带参数则列出问过的话",
		"/retry":     "重新回答最后一个问题",
		"/branches":  "列出分支，或切换到其中一个",
		"/fork":      "从这里或某条消息开始一个新对话",
		"/add":       "再加一个工作文件夹",
		"/save":      "把对话写入文件（.jsonl 或 .gemini.jsonl）",
		"/context":   "下一次请求会发送什么",
		"/compact":   "现在就把旧消息折叠到引用之后",
		"/uncompact": "撤销最近一次折叠",
		"/clear":     "折叠到目前为止的全部内容，重新开始",
		"/receipts":  "折叠过什么，省了多少",
		"/pin":       "固定一条消息，折叠后仍逐字可见，再来一次则取消；不带参数则列出",
		"/refs":      "折叠或附加的内容",
		"/grep":      "在本对话中查找行，无论是否已折叠（RE2）",
		"/search":    "按词查找所有对话中的消息",
		"/model":     "显示或更换模型",
		"/title":     "给对话起标题",
		"/quit":      "离开",
	},
	Pick:              "对话",
	PickKeys:          "↑ ↓ 选择 · Enter 继续 · / 筛选 · Esc 开始新对话",
	ResumeHint:        "/resume N 继续其中一个对话",
	RewindHint:        "/rewind N 让第 N 条消息成为最新：要重问 #7，请用 /rewind 6",
	BranchHint:        "/branches N 切换到第 N 个分支",
	Unfinished:        "（中断）",
	Rewound:           "回到第 %s 条消息；之后的内容留在它的分支上",
	Saved:             "已保存为 %s",
	Added:             "对话现在也在 %s 中工作",
	TakesFolder:       "文件夹",
	TakesConversation: "[编号|latest|序号]",
	TakesSeq:          "[消息号]",
	TakesNumber:       "[序号]",
	TakesFile:         "文件",
	TakesPattern:      "正则表达式",
	TakesWords:        "词语",
	TakesName:         "[名称]",
	TakesTitle:        "标题",
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
