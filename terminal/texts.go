package terminal

import (
	"cmp"
	"fmt"
	"regexp"
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
	NoFile      string // a reference that is being typed names nothing
	MoreFiles   string // how many more it may name
	TakesConversation,
	TakesSeq,
	TakesNumber,
	TakesFolder,
	TakesFile string
	TakesPattern string
	TakesWords   string
	TakesName    string
	TakesTitle   string
	Trouble      TroubleTexts
	Web          WebTexts
	Reference    ReferenceTexts
}

// ReferenceTexts say what a reference of a prompt came to.
type ReferenceTexts struct {
	Line      string // the mark, what is said of it
	Unchanged string // version, seq of the message that has it
	Between   string // sentences
	// Said has the sentences that are stored with references, as they are made in English.
	Said map[string]string
}

// verb is where a part stands in a sentence.
var verb = regexp.MustCompile(`%[a-z0-9]+`)

// said is what was stored of a reference, sentence by sentence. One that the table does not
// have stays as it is.
func (t ReferenceTexts) said(stored string) string {
	out := strings.Split(stored, "; ")
	for i, s := range out {
		for english, format := range t.Said {
			pattern := "^" + verb.ReplaceAllString(regexp.QuoteMeta(english), "(.+?)") + "$"
			if m := regexp.MustCompile(pattern).FindStringSubmatch(s); m != nil {
				parts := m[1:]
				out[i] = verb.ReplaceAllStringFunc(format, func(string) (part string) {
					part, parts = parts[0], parts[1:]
					return part
				})
				break
			}
		}
	}
	return strings.Join(out, t.Between)
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
	Reference: ReferenceTexts{Line: "%s: %s", Unchanged: "unchanged since version %d, in message #%d", Between: "; ", Said: map[string]string{
		"refused: no folder was granted": "refused: no folder was granted; --root or /add adds one",
		"refused: outside the roots":     "refused: outside the roots; --root or /add adds one",
	}},
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
	Compacting:  "compacting…",
	Compacted:   "compacted #%d–#%d: %s → %s tokens",
	Nothing:     "Nothing has been said yet.",
	Unknown:     "No such command: %s; /help lists them. To send a line that begins with a slash, type two.",
	Missing:     "%s needs %s",
	Model:       "model: %s",
	Titled:      "title: %s",
	Status:      "%s · %s of %s tokens",
	NewThread:   "new conversation",
	Keys:        "Alt+Enter, or \\ at the end of a line: new line · Up, Down: earlier questions · @ and Tab: name a file · Ctrl-C: stop, or quit",
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
	NoFile:            "no file in the conversation's folders begins like this",
	MoreFiles:         "… %s more",
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
	Reference: ReferenceTexts{Line: "%s：%s", Unchanged: "自第 %d 版起没有变化，见消息 #%d", Between: "；", Said: referencesInChinese},
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
	Compacting:  "正在压缩……",
	Compacted:   "已压缩 #%d–#%d：%s → %s 个 token",
	Nothing:     "还没有任何内容。",
	Unknown:     "没有命令 %s；/help 列出全部命令。要发送以斜杠开头的一行，请写两个斜杠。",
	Missing:     "%s 需要 %s",
	Model:       "模型：%s",
	Titled:      "标题：%s",
	Status:      "%s · %s / %s token",
	NewThread:   "新对话",
	Keys:        "Alt+Enter 或行尾的 \\：换行 · 上下键：之前的提问 · @ 加 Tab：引用文件 · Ctrl-C：停止或退出",
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
	NoFile:            "对话的文件夹中没有以此开头的文件",
	MoreFiles:         "…… 还有 %s 个",
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

var referencesInChinese = map[string]string{
	"refused: no folder was granted":                                  "已拒绝：没有授权任何文件夹；可用 --root 或 /add 添加",
	"refused: outside the roots":                                      "已拒绝：不在授权的文件夹内；可用 --root 或 /add 添加",
	"refused: remote images are not allowed":                          "已拒绝：不允许远程图片",
	"refused: recall tools cannot be run here":                        "已拒绝：这里不能运行查阅工具",
	"its arguments are not JSON":                                      "它的参数不是 JSON",
	"not found":                                                       "找不到",
	"not a regular file":                                              "不是普通文件",
	"not readable":                                                    "无法读取",
	"not readable: permission denied":                                 "无法读取：没有权限",
	"not readable: %s":                                                "无法读取：%s",
	"a folder has no lines":                                           "文件夹没有行号",
	"an image has no lines":                                           "图片没有行号",
	"a binary file of %s":                                             "二进制文件，共 %s",
	"these lines are not text":                                        "这些行不是文本",
	"not UTF-8 text: the byte 0x%02x in line %d":                      "不是 UTF-8 文本：有字节 0x%02x，在第 %d 行",
	"lines %d to %d are in reverse":                                   "第 %d 行到第 %d 行的顺序颠倒",
	"line %d is past the end: the file has 1 line":                    "第 %d 行超出末尾：文件只有 1 行",
	"line %d is past the end: the file has %d lines":                  "第 %d 行超出末尾：文件共 %d 行",
	"cut: %d of %s entries":                                           "已截断：列出 %d 项，共 %s 项",
	"cut: the first %d of %d bytes":                                   "已截断：前 %d 字节，共 %d 字节",
	"cut in line %d: at most %s are read":                             "在第 %d 行截断：最多读取 %s",
	"too large: %s, and at most %s are read":                          "太大：%s，最多读取 %s",
	"name lines of it, as in @[path:1:200]":                           "请指明行号，如 @[路径:1:200]",
	"too large: line %d is not within its first %s":                   "太大：第 %d 行不在前 %s 之内",
	"too large: %s, and of the %s for all references %s are left":     "太大：%s，所有引用共 %s，还剩 %s",
	"too large: %s, and an image has at most %s":                      "太大：%s，图片最大 %s",
	"too large: a data URL of %s, and an image has at most %s":        "太大：data URL 为 %s，图片最大 %s",
	"too large: an image has at most %s":                              "太大：图片最大 %s",
	"not a data URL":                                                  "不是 data URL",
	"not an image that a model can be shown (PNG, JPEG, GIF or WebP)": "不是可以给模型看的图片（PNG、JPEG、GIF 或 WebP）",
	"not an image: a folder":                                          "不是图片：是文件夹",
	"not an image: an empty file":                                     "不是图片：文件为空",
	"left out: the limit of images is %d":                             "未发送：最多发送 %d 张图片",
	"left out: the images of a prompt have at most %s":                "未发送：一次提问的图片共最多 %s",
	"left out: the limit of references is %d":                         "未读取：最多读取 %d 个引用",
	"left out, with %d more: the limit of references is %d":           "未读取，另有 %d 个也未读取：最多读取 %d 个引用",
	"a circle: @[%s] leads back to %s and is not followed":            "循环引用：@[%s] 又指回 %s，未再读取",
	"its own references are not followed: more than %d deep":          "其中的引用未读取：层数超过 %d",
}
