package summary

import (
	_ "embed"
	"slices"
	"strings"
	"unicode"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/wordtable"
)

//go:embed words.tsv
var foreignFile string

// foreign is what models write in other languages than English and Chinese.
var foreign = wordtable.New("compact/summary/words.tsv", foreignFile)

// headingWords are other words for a heading of a form, in the form that titleKey makes: those of English
// and Chinese, and the rule of words.tsv that has those of other languages.
type headingWords struct {
	rule  string
	words []string
}

// names reports whether a heading has one of the words.
func (h headingWords) names(key string) bool {
	return slices.Contains(h.words, key) || foreign.PartOf(h.rule, key) != ""
}

// What models write instead of the headings of the two forms, by section.
var (
	stateTitles = []headingWords{
		{"state-goal", []string{
			"goal", "goals", "overall goal", "objective", "objectives", "purpose", "目标", "目標", "目的",
		}},
		{"state-constraints", []string{
			"constraints", "constraint", "rules", "constraints and decisions", "约束", "約束", "约束条件",
			"限制",
		}},
		{"state-knowledge", []string{
			"knowledge", "key knowledge", "known facts", "facts", "知识", "知識", "已知信息", "关键信息",
			"事实",
		}},
		{"state-artifacts", []string{
			"artifacts", "artefacts", "产物", "產物", "工件", "制品",
		}},
		{"state-files", []string{
			"files", "file", "file state", "file system state", "文件", "檔案",
		}},
		{"state-recent-actions", []string{
			"recent actions", "recent action", "actions", "latest actions", "最近操作", "最近的操作",
			"近期操作", "最近行动", "最近動作",
		}},
		{"state-tasks", []string{
			"tasks", "task", "task states", "task list", "current plan", "plan", "todo", "todos", "任务",
			"任務", "任务状态",
		}},
	}
	notesTitles = []headingWords{
		{"notes-facts", []string{
			"facts", "fact", "key facts", "knowledge", "事实", "事實",
		}},
		{"notes-preferences", []string{
			"preferences", "preference", "偏好", "喜好",
		}},
		{"notes-constraints", []string{
			"constraints", "constraint", "rules", "约束", "約束", "约束条件", "限制",
		}},
		{"notes-decisions", []string{
			"decisions", "decision", "决定", "決定", "决策",
		}},
		{"notes-open-items", []string{
			"open items", "open item", "open questions", "open tasks", "open points", "todo", "todos",
			"next steps", "未完成事项", "未完成事項", "待办", "待办事项", "待辦事項",
		}},
	}
)

// sectionOf returns the section of a form that a title names, or -1.
func (f Form) sectionOf(title string) int {
	key := titleKey(title)
	other := notesTitles
	if f.Sections[0].Heading == state.Sections[0].Heading {
		other = stateTitles
	}
	for i, s := range f.Sections {
		if key == titleKey(s.Heading) {
			return i
		}
	}
	return slices.IndexFunc(other, func(h headingWords) bool { return h.names(key) })
}

var (
	titleNumber = lazyregexp.New(
		`^(?:\d{1,2}\s*[.)、．:]|[(（]\d{1,2}[)）]|[一二三四五六七八九十]{1,2}[、.．]|[IVX]{1,4}[.)]|[①-⑩]|\d{1,2}\s)\s*`,
	)
	titleAside = lazyregexp.New(`\s*[(（][^)）]*[)）]\s*$`)
)

// titleKey returns a title in lower case, without numbers, marks and what stands in brackets.
func titleKey(title string) string {
	marks := func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsNumber(c) }
	title = titleNumber().ReplaceAllString(strings.Trim(title, " *_#`"), "")
	title = strings.TrimFunc(titleAside().ReplaceAllString(strings.Trim(title, " *_:："), ""), marks)
	return strings.ToLower(strings.Join(strings.FieldsFunc(title,
		func(c rune) bool { return unicode.IsSpace(c) || strings.ContainsRune("*_-", c) }), " "))
}

// sectionHead is a line that heads what follows. Section is that of the form, or -1. Level is
// 1 to 6 for a line that begins with that many #, and more for weaker marks.
type sectionHead struct {
	section int
	level   int
	title   string
	rest    string // what stands behind it on the same line
}

// The levels of heads without #.
const (
	levelBold   = 7 // **Goal**
	levelPlain  = 8 // Goal:
	levelBullet = 9 // - **Goal:** what it is
)

var (
	atxLine    = lazyregexp.New(`^ {0,3}(#{1,6})([ \t]*)([^#\s].*?)[ \t]*#*$`)
	boldLine   = lazyregexp.New(`^(?:\*\*|__)(.+?)(?:\*\*|__)\s*([:：]?)\s*(.*)$`)
	underlined = lazyregexp.New(`^(=+|-{3,})\s*$`)
	bulletLine = lazyregexp.New(`^([-*+•◦▪‣–·●○]|\d{1,3}[.)])(?:\s+(.*)|)$`)
	fenceLine  = lazyregexp.New("^\\s*(`{3,}|~{3,})(.*)$")
	ruleLine   = lazyregexp.New(
		`^\s*(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,}|\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?)$`,
	)
)

// headOf reads a line as a head. next is the line after it, and style the level of the
// first head of the answer, or 0: weaker marks than those are no heads.
func (f Form) headOf(line, next string, style int) (sectionHead, bool) {
	text := strings.TrimSpace(line)
	named := func(level int, title, rest string) (sectionHead, bool) {
		h := sectionHead{f.sectionOf(title), level, strings.TrimSpace(title), strings.TrimSpace(rest)}
		if h.section < 0 {
			if i := strings.IndexAny(title, ":："); i > 0 && f.sectionOf(title[:i]) >= 0 {
				_, after, _ := strings.Cut(strings.Replace(title, "：", ":", 1), ":")
				h = sectionHead{f.sectionOf(title[:i]), level, strings.TrimSpace(title[:i]),
					strings.TrimSpace(strings.Trim(after, "*_ ") + " " + rest)}
			}
		}
		return h, h.section >= 0
	}
	if m := atxLine().FindStringSubmatch(line); m != nil {
		h, known := named(len(m[1]), m[3], "")
		return h, known || m[2] != "" // without a space it may be a #12, or a hashtag
	}
	if m := underlined().FindString(next); m != "" && text != "" {
		if h, known := named(2, text, ""); known || m[0] == '=' {
			return h, true
		}
	}
	if style > 0 && style < levelBold {
		return sectionHead{}, false
	}
	bare := titleNumber().ReplaceAllString(text, "")
	if m := boldLine().FindStringSubmatch(bare); m != nil && (style == 0 || style >= levelBold) {
		h, known := named(levelBold, m[1], m[3])
		return h, known || m[3] == "" && style == levelBold
	}
	if style == 0 || style == levelPlain {
		if h, known := named(levelPlain, bare, ""); known && unicode.IsLetter([]rune(bare)[0]) {
			return h, true
		}
	}
	if m := bulletLine().FindStringSubmatch(text); m != nil && (style == 0 || style == levelBullet) {
		if b := boldLine().FindStringSubmatch(m[2]); b != nil {
			return named(levelBullet, b[1], b[3])
		}
	}
	return sectionHead{}, false
}

// parsedAnswer is an answer, taken apart.
type parsedAnswer struct {
	lines    [][]string // by section of the form
	came     []bool     // which sections
	repeated int        // sections that came again with something in them
	others   []string   // titles of sections that nobody asked for, with something in them
	last     int        // the section that came last, or -1
	ends     string     // the last line
	open     bool       // it ends within a fence, or with a heading
}

// parse finds the sections of an answer. What stands before the first heading and after
// a section that nobody asked for is left out.
func (f Form) parse(text string) parsedAnswer {
	p := parsedAnswer{lines: make([][]string, len(f.Sections)), came: make([]bool, len(f.Sections)), last: -1}
	lines := strings.Split(text, "\n")
	at := -1
	style := 0
	fence := ""
	other := ""
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		next := ""
		if i+1 < len(lines) {
			next = lines[i+1]
		}
		if strings.TrimSpace(line) != "" {
			p.ends = line
			p.open = false
		}
		if m := fenceLine().FindStringSubmatch(line); m != nil &&
			(fence == "" || strings.HasPrefix(m[1], fence) && strings.TrimSpace(m[2]) == "") {
			if fence == "" {
				fence = m[1]
			} else {
				fence = ""
			}
		} else if h, ok := f.headOf(line, next, style); fence == "" && ok {
			if underlined().MatchString(next) && h.level <= 2 {
				i++
			}
			if h.section < 0 && h.level > max(style, 1) && style > 0 { // within a section
				line = "- **" + h.title + "**"
			} else if h.section < 0 {
				at = -1
				other = h.title
				continue
			} else {
				at = h.section
				other = ""
				p.open = h.rest == ""
				if style == 0 {
					style = h.level
				}
				p.beginSection(at)
				line = h.rest
			}
		}
		switch {
		case at >= 0:
			p.lines[at] = append(p.lines[at], line)
		case other != "" && p.last >= 0 && !saysNothing(line):
			p.others = append(p.others, other)
			other = ""
		}
	}
	p.open = p.open || fence != ""
	return p
}

func (p *parsedAnswer) beginSection(section int) {
	if p.came[section] && strings.TrimSpace(strings.Join(p.lines[section], "")) != "" {
		p.repeated++
	}
	p.came[section] = true
	p.last = section
}

// missingSections lists the sections that did not come.
func (p *parsedAnswer) missingSections() (out []int) {
	for i, came := range p.came {
		if !came {
			out = append(out, i)
		}
	}
	return out
}

// listBullets makes lines of a section that begin with "- ", nested ones further in, and
// leaves out those that say nothing.
func listBullets(lines []string) (out []string) {
	fence := ""
	gap := false
	outer := -1
	wrapped := false
	for _, line := range lines {
		text := strings.TrimSpace(line)
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		m := fenceLine().FindStringSubmatch(line)
		switch {
		case m != nil && fence == "", fence != "":
			if m != nil && fence == "" {
				fence = m[1]
			} else if m != nil && strings.HasPrefix(m[1], fence) && strings.TrimSpace(m[2]) == "" {
				fence = ""
			}
			out = append(out, "  "+strings.TrimPrefix(strings.TrimRight(line, " "), "  "))
			gap = false
			continue
		case text == "":
			gap = true
			continue
		case ruleLine().MatchString(line):
			continue
		}
		if text = strings.TrimSpace(strings.TrimLeft(text, ">")); text == "" { // a blank line within a quotation
			gap = true
			continue
		}
		if b := bulletLine().FindStringSubmatch(text); b != nil ||
			strings.HasPrefix(text, "-") && len(text) > 1 && !strings.ContainsAny(text[1:2], "-0123456789") {
			if b == nil {
				text = text[1:]
			} else {
				text = strings.TrimSpace(b[2])
			}
			if outer < 0 {
				outer = indent
			}
			wrapped = false
			if !saysNothing(text) {
				out = append(out, strings.Repeat("  ", min(max(indent-outer, 0)/2, 3))+"- "+text)
			}
		} else if n := len(out) - 1; n >= 0 && !gap && (indent > max(outer, 0) || wrapped && continuesItem(out[n], text)) {
			out[n] += " " + text
		} else if !saysNothing(text) {
			out = append(out, "- "+text)
			wrapped = true
		}
		gap = false
	}
	if fence != "" {
		out = append(out, "  "+fence)
	}
	return out
}

// leastWrapped is how many characters a line has at least that goes on in the next one.
const leastWrapped = 50

// continuesItem reports whether a sentence goes on from one line to the next.
func continuesItem(line, next string) bool {
	runes := []rune(line)
	return len(runes) >= leastWrapped && !strings.ContainsRune(".!?:;。！？：；…", runes[len(runes)-1]) &&
		!unicode.IsUpper([]rune(next)[0])
}

// nothing finds what says that a section has no content, in words and spaces alone: "none so far",
// "no files mentioned". What says no to something else ("no meat") is content.
var nothing = lazyregexp.New(`^(?:(?:none|nothing|nil|n ?a|not applicable|empty` +
	`|(?:there (?:are|is|were|was) )?no (?:new |other |specific |explicit |open |recent |further |known )?` +
	`(?:goals?|constraints?|knowledge|artifacts?|files?|actions?|tasks?|facts?|preferences?|decisions?|items?|content|` +
	`information|changes?))(?: (?:so far|yet|now|currently|here|known|available|applicable|relevant|at (?:this|the) ` +
	`(?:time|point|moment|stage)|to (?:report|note|record|add)|in (?:this|the) (?:section|record|conversation)|` +
	`(?:(?:was|were|is|are|has been|have been) )?(?:mentioned|stated|noted|given|specified|identified|recorded|` +
	`discussed|made|found|provided|listed|open|changed|touched)))* ?)+$` +
	`|^(?:(?:目前|暂时|暫時|尚|当前|對話中|对话中|本轮)?(?:暂无|暫無|没有|沒有|无|無|未提及|未提到|空)` +
	`(?:相关|相關|具体|明确|其他|其它|新|新的|任何)?(?:内容|內容|信息|資訊|记录|記錄|目标|约束|約束|知识|产物|文件|操作|任务|` +
	`事实|偏好|决定|决策|事项|未完成事项|待办|待办事项)?)$`)

// saysNothing reports whether a line means that there is nothing to say.
func saysNothing(line string) bool {
	if isNone(strings.ToLower(strings.Trim(line, " -*_.。()（）[]`"))) {
		return true
	}
	var b strings.Builder
	space := false
	for _, c := range strings.ToLower(messageNumber().ReplaceAllString(line, "")) {
		if !unicode.IsLetter(c) && !unicode.IsNumber(c) {
			space = b.Len() > 0
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(c)
	}
	bare := b.String()
	return bare == "" || isNone(bare) || nothing().MatchString(bare) || foreign.PartOf("nothing", bare) != ""
}

// messageNumber finds what refers to a message.
var messageNumber = lazyregexp.New(`#\d+`)
