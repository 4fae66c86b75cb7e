package summary

import (
	"strings"
	"unicode"

	"github.com/scrollback-ai/scrollback"
)

// Form is what a summary looks like: its sections in order, the heading of the part
// that is carried word for word, and the word for a section with nothing to say.
type Form struct {
	Sections []Section
	Said     string
	None     string
}

// Section is a heading, and what a model is told to write under it.
type Section struct{ Heading, Holds string }

// Snapshot returns the form of a summary of where things stand.
func Snapshot() Form { return state }

// recentActions heads the section whose last lines are the newest.
const recentActions = "Recent actions"

// state is that form. Its headings are English, whatever language the
// person speaks.
var state = Form{Sections: []Section{
	{"Goal", "What the person is after, in the end and right now."},
	{"Constraints", "What must or must not be done: preferences, rules, limits, decisions and their reasons."},
	{"Knowledge", "Facts that came up: names, numbers, dates, addresses, results, errors with their exact words."},
	{"Artifacts", "What was made or given: documents, results of tools, images, with their refs."},
	{"Files", "Paths and what was read, changed or decided of each."},
	{recentActions, "The last things that were done, in order, and how they ended."},
	{"Tasks", "Each task with its state: done, under way, open."},
}, Said: "Said, word for word", None: "none"}

// notes are the forms of a rolling summary, by language; the first is for languages
// without a form of their own.
var notes = []struct {
	language string
	Form
}{
	{"", newRolling("Said, word for word", "none", "Facts", "Preferences", "Constraints", "Decisions", "Open items")},
	{"zh", newRolling("原话", "无", "事实", "偏好", "约束", "决定", "未完成事项")},
	{"ja", newRolling("発言そのまま", "なし", "事実", "好み", "制約", "決定事項", "未完了の事項")},
	{"ko", newRolling("원문 그대로", "없음", "사실", "선호", "제약", "결정", "남은 일")},
}

func newRolling(said, none string, headings ...string) Form {
	holds := []string{
		"What is known: names, numbers, dates, addresses, results, errors with their exact words.",
		"What the person likes and how they want things done.",
		"What must or must not be done: rules, limits, deadlines.",
		"What was decided, and why.",
		"What is not done or not answered yet, and what comes next.",
	}
	f := Form{Said: said, None: none}
	for i, h := range headings {
		f.Sections = append(f.Sections, Section{h, holds[i]})
	}
	return f
}

// Rolling returns the form of a rolling summary in a language, as [DetectLanguage] names it.
func Rolling(language string) Form {
	for _, n := range notes {
		if n.language == language {
			return n.Form
		}
	}
	return notes[0].Form
}

// Bare returns the shortest summary of a form: its headings, and a line under each.
func (f Form) Bare() string {
	var b strings.Builder
	for _, s := range f.Sections {
		b.WriteString("## " + s.Heading + "\n- " + f.None + "\n")
	}
	return b.String()
}

// CarriedMarks lists the headings of what is carried word for word, in all forms.
func CarriedMarks() []string {
	out := []string{"\n## " + state.Said + "\n"}
	for _, n := range notes[1:] {
		out = append(out, "\n## "+n.Said+"\n")
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

// DetectLanguage returns the language of the person in a run of messages: zh, ja or ko, by the
// script, or empty.
func DetectLanguage(run []scrollback.Message) string {
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
		for i := range run {
			if m := &run[i]; !only || m.Role == scrollback.RoleUser {
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

// isNone reports whether a line means that there is nothing to say.
func isNone(line string) bool {
	bare := strings.Trim(line, "-*. 。")
	if bare == "" || strings.EqualFold(bare, state.None) {
		return true
	}
	for _, n := range notes {
		if bare == n.None {
			return true
		}
	}
	return false
}
