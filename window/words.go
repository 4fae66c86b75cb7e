package window

import (
	"cmp"
	"maps"
	"slices"
)

// Words are the words around what was folded, in one language. Those with a % are formats.
type Words struct {
	Note      string // what the block is
	Read      string // how a ref is read: with the names of tools
	Search    string // what searches everything: with the name of a tool
	Or        string // between the last two names
	Comma     string // between the others
	Space     string // between sentences
	Then, End string // between the two of how, and behind them
	Said      string // the heading of lines that stand alone: first and last seq
	Summary   string // the heading of a summary: first and last seq
	One, Many string // the first line of a placeholder: seq, dates, ref; first and last seq, dates, ref
	To        string // between two dates
	Ends      string // where a summary ends above lines that are newer: its last seq

	// Labels above the kinds of lines that are carried word for word.
	Todos, Traits, Instructions, Files, Latest string
	// Older is how many more of them there are, and the ref of a text that has them.
	Older string
	// Waits says which messages are not compacted yet: first and last seq; WaitsRead how they are read, with the same.
	Waits, WaitsRead string
	// Elsewhere is the heading of what was said in other conversations of a project; with the name of a tool.
	Elsewhere string

	tokens int64 // of the block without what it holds, with the tools of package recall
}

// words are those of each language, by its code; English is also that of the others.
var words = map[string]*Words{
	"en": {
		Note: "Earlier messages are folded. This is a record of them, not a request.",
		Read: "Read a ref (history:…) with %s", Search: "%s searches everything", Or: " or ", Comma: ", ",
		Space: " ", Then: "; ", End: ".",
		Said:    "Said in messages #%d–#%d, word for word:",
		Summary: "Summary of messages #%d–#%d:",
		One:     "Message #%d (%s) is folded: %s", Many: "Messages #%d–#%d (%s) are folded: %s",
		To: " to ", Ends: "(The minutes above end at #%d.)",
		Todos: "Still to do:", Traits: "About the person:", Instructions: "What the person asked for:",
		Files: "Files that tools touched:", Latest: "Said last:", Older: "%d more that still stand: %s",
		Waits:     "Messages #%d–#%d were imported and are not compacted yet.",
		WaitsRead: "Find what they say with context_grep, or read them with context_read #%d-#%d.",
		Elsewhere: "Said in other conversations of this project, word for word; %s takes the refs:",
		tokens:    FoldTokens,
	},
	"zh": {
		Note: "较早的消息已压缩。以下是它们的记录，不是请求。",
		Read: "用 %s 读取引用（history:…）", Search: "%s 搜索全部内容", Or: " 或 ", Comma: "、",
		Space: "", Then: "；", End: "。",
		Said:    "消息 #%d–#%d 中的原话：",
		Summary: "消息 #%d–#%d 的摘要：",
		One:     "消息 #%d（%s）已压缩：%s", Many: "消息 #%d–#%d（%s）已压缩：%s",
		To: " 至 ", Ends: "（以上摘要止于 #%d。）",
		Todos: "尚未完成：", Traits: "关于用户：", Instructions: "用户的要求：",
		Files: "工具处理过的文件：", Latest: "最近说的：", Older: "另有 %d 条仍然有效：%s",
		Waits:     "消息 #%d–#%d 是导入的，尚未压缩。",
		WaitsRead: "可用 context_grep 查找，或用 context_read #%d-#%d 读取。",
		Elsewhere: "在本项目其他对话中的原话；可用 %s 读取引用：",
		tokens:    80,
	},
	"ja": {
		Note: "以前のメッセージは圧縮されています。以下はその記録で、依頼ではありません。",
		Read: "参照（history:…）は %s で読めます", Search: "%s で全体を検索できます", Or: " か ", Comma: "、",
		Space: "", Then: "。", End: "。",
		Said:    "メッセージ #%d–#%d の発言（原文のまま）：",
		Summary: "メッセージ #%d–#%d の要約：",
		One:     "メッセージ #%d（%s）は圧縮されています：%s", Many: "メッセージ #%d–#%d（%s）は圧縮されています：%s",
		To: "～", Ends: "（上の要約は #%d まで。）",
		Todos: "未完了：", Traits: "利用者について：", Instructions: "利用者の指示：",
		Files: "ツールが扱ったファイル：", Latest: "最近の発言：", Older: "ほかに有効なもの %d 件：%s",
		Waits:     "メッセージ #%d–#%d は取り込まれたもので、まだ圧縮されていません。",
		WaitsRead: "context_grep で検索するか、context_read #%d-#%d で読めます。",
		Elsewhere: "このプロジェクトのほかの会話での発言（原文のまま）。参照は %s で読めます：",
		tokens:    100,
	},
	"ko": {
		Note: "이전 메시지는 압축되어 있습니다. 다음은 그 기록이며 요청이 아닙니다.",
		Read: "참조(history:…)는 %s(으)로 읽습니다", Search: "%s(으)로 전체를 검색합니다", Or: " 또는 ", Comma: ", ",
		Space: " ", Then: ". ", End: ".",
		Said:    "메시지 #%d–#%d의 원문:",
		Summary: "메시지 #%d–#%d의 요약:",
		One:     "메시지 #%d(%s)는 압축됨: %s", Many: "메시지 #%d–#%d(%s)는 압축됨: %s",
		To: "~", Ends: "(위 요약은 #%d까지입니다.)",
		Todos: "남은 일:", Traits: "사용자에 대하여:", Instructions: "사용자의 요청:",
		Files: "도구가 다룬 파일:", Latest: "최근에 한 말:", Older: "그 밖에 유효한 것 %d개: %s",
		Waits:     "메시지 #%d–#%d는 가져온 것이며 아직 압축되지 않았습니다.",
		WaitsRead: "context_grep으로 찾거나 context_read #%d-#%d로 읽습니다.",
		Elsewhere: "이 프로젝트의 다른 대화에서 한 말의 원문. 참조는 %s(으)로 읽습니다:",
		tokens:    96,
	},
}

// FindWords returns the words of a language by its code: en, zh, ja or ko, and English for others.
func FindWords(language string) *Words { return cmp.Or(words[language], words["en"]) }

// ListWords lists the words of all languages.
func ListWords() (out []*Words) {
	for _, language := range slices.Sorted(maps.Keys(words)) {
		out = append(out, words[language])
	}
	return out
}
