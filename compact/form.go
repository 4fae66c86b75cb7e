package compact

import (
	"strings"
	"unicode"

	"github.com/scrollback-ai/scrollback"
)

// form is what a summary looks like: its sections in order, the heading of the part
// that is carried word for word, and the word for a section with nothing to say.
type form struct {
	sections []section
	said     string
	none     string
}

// section is a heading, and what a model is told to write under it.
type section struct{ heading, holds string }

// state is the form of a snapshot. Its headings are English, whatever language the
// person speaks.
var state = form{sections: []section{
	{"Goal", "What the person is after, in the end and right now."},
	{"Constraints", "What must or must not be done: preferences, rules, limits, decisions and their reasons."},
	{"Knowledge", "Facts that came up: names, numbers, dates, addresses, results, errors with their exact words."},
	{"Artifacts", "What was made or given: documents, results of tools, images, with their refs."},
	{"Files", "Paths and what was read, changed or decided of each."},
	{"Recent actions", "The last things that were done, in order, and how they ended."},
	{"Tasks", "Each task with its state: done, under way, open."},
}, said: "Said, word for word", none: "none"}

// notes are the forms of a rolling summary, by language; the first is for languages
// without a form of their own.
var notes = []struct {
	language string
	form
}{
	{"", rolling("Said, word for word", "none", "Facts", "Preferences", "Constraints", "Decisions", "Open items")},
	{"zh", rolling("原话", "无", "事实", "偏好", "约束", "决定", "未完成事项")},
	{"ja", rolling("発言そのまま", "なし", "事実", "好み", "制約", "決定事項", "未完了の事項")},
	{"ko", rolling("원문 그대로", "없음", "사실", "선호", "제약", "결정", "남은 일")},
}

func rolling(said, none string, headings ...string) form {
	holds := []string{
		"What is known: names, numbers, dates, addresses, results, errors with their exact words.",
		"What the person likes and how they want things done.",
		"What must or must not be done: rules, limits, deadlines.",
		"What was decided, and why.",
		"What is not done or not answered yet, and what comes next.",
	}
	f := form{said: said, none: none}
	for i, h := range headings {
		f.sections = append(f.sections, section{h, holds[i]})
	}
	return f
}

// form returns the form of the record's summary.
func (r *record) form() form {
	if r.policy.Name != Rolling {
		return state
	}
	spoken := r.language()
	for _, n := range notes {
		if n.language == spoken {
			return n.form
		}
	}
	return notes[0].form
}

// bare returns the shortest summary of a form: its headings, and a line under each.
func (f form) bare() string {
	var b strings.Builder
	for _, s := range f.sections {
		b.WriteString("## " + s.heading + "\n- " + f.none + "\n")
	}
	return b.String()
}

// saidMarks lists the headings of what is carried word for word, in all forms.
func saidMarks() []string {
	out := []string{"\n## " + state.said + "\n"}
	for _, n := range notes[1:] {
		out = append(out, "\n## "+n.said+"\n")
	}
	return out
}

// The shares of letters that make a text Chinese, Korean or Japanese. They are low, so
// that English quotes and names in it do not make it English.
const (
	hanShare    = 0.10
	hangulShare = 0.10
	kanaShare   = 0.03
	enough      = 20_000 // letters that are examined
)

// language returns the language of the person: zh, ja or ko, by the script, or empty.
func (r *record) language() string {
	var letters, han, kana, hangul float64
	read := func(text string) {
		for _, c := range text {
			if letters > enough {
				return
			}
			switch {
			case unicode.Is(unicode.Han, c):
				han++
			case unicode.In(c, unicode.Hiragana, unicode.Katakana):
				kana++
			case unicode.Is(unicode.Hangul, c):
				hangul++
			case !unicode.IsLetter(c):
				continue
			}
			letters++
		}
	}
	for _, only := range []bool{true, false} { // what the person said; failing that, whatever was said
		for i := range r.run {
			if m := &r.run[i]; !only || m.Role == scrollback.RoleUser {
				read(m.Parts.Text())
			}
		}
		if letters > 0 {
			break
		}
	}
	switch {
	case kana > kanaShare*letters:
		return "ja"
	case hangul > hangulShare*letters:
		return "ko"
	case han > hanShare*letters:
		return "zh"
	}
	return ""
}

// isNone says whether a line means that there is nothing to say.
func isNone(line string) bool {
	bare := strings.Trim(line, "-*. 。")
	if bare == "" || strings.EqualFold(bare, state.none) {
		return true
	}
	for _, n := range notes {
		if bare == n.none {
			return true
		}
	}
	return false
}
