package summary

import (
	"slices"
	"strings"
	"unicode"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/window"
)

// Form is what a summary looks like: its sections in order, the heading of the part
// that is carried word for word, and the word for a section with nothing to say.
type Form struct {
	Sections []Section
	Said     string
	None     string
	Words    *window.Words // around it
}

// Section is a heading, and what a model is told to write under it.
type Section struct{ Heading, Holds string }

// states are the forms of a summary of where things stand, by language.
var states = map[string]Form{
	"en": newState("en", "Said, word for word", "none", "Goal", "Constraints", "Knowledge", "Artifacts", "Files",
		"Recent actions", "Tasks"),
	"zh": newState("zh", "原话", "无", "目标", "约束", "已知信息", "产出物", "文件", "最近的操作", "任务"),
	"ja": newState("ja", "発言そのまま", "なし", "目標", "制約", "わかっていること", "成果物", "ファイル", "最近の作業", "タスク"),
	"ko": newState("ko", "원문 그대로", "없음", "목표", "제약", "알려진 사실", "결과물", "파일", "최근 작업", "할 일"),
}

// recentActions is the section of a summary of where things stand whose last lines are the newest.
const recentActions = 5

func newState(language, said, none string, headings ...string) Form {
	return newForm(language, said, none, headings, []string{
		"What the person is after, in the end and right now.",
		"What must or must not be done: preferences, rules, limits, decisions and their reasons.",
		"Facts that came up: names, numbers, dates, addresses, results, errors with their exact words.",
		"What was made or given: documents, results of tools, images, with their refs.",
		"Paths and what was read, changed or decided of each.",
		"The last things that were done, in order, and how they ended.",
		"Each task with its state: done, under way, open.",
	})
}

// Snapshot returns the form of a summary of where things stand in a language, as [DetectLanguage] names it.
func Snapshot(language string) Form { return findForm(states, language) }

// notes are the forms of a rolling summary, by language.
var notes = map[string]Form{
	"en": newRolling("en", "Said, word for word", "none", "Facts", "Preferences", "Constraints", "Decisions", "Open items"),
	"zh": newRolling("zh", "原话", "无", "事实", "偏好", "约束", "决定", "未完成事项"),
	"ja": newRolling("ja", "発言そのまま", "なし", "事実", "好み", "制約", "決定事項", "未完了の事項"),
	"ko": newRolling("ko", "원문 그대로", "없음", "사실", "선호", "제약", "결정", "남은 일"),
}

func newRolling(language, said, none string, headings ...string) Form {
	return newForm(language, said, none, headings, []string{
		"What is known: names, numbers, dates, addresses, results, errors with their exact words.",
		"What the person likes and how they want things done.",
		"What must or must not be done: rules, limits, deadlines.",
		"What was decided, and why.",
		"What is not done or not answered yet, and what comes next.",
	})
}

func newForm(language, said, none string, headings, holds []string) Form {
	f := Form{Said: said, None: none, Words: window.FindWords(language)}
	for i, h := range headings {
		f.Sections = append(f.Sections, Section{h, holds[i]})
	}
	return f
}

// Rolling returns the form of a rolling summary in a language, as [DetectLanguage] names it.
func Rolling(language string) Form { return findForm(notes, language) }

// findForm returns the form of a language; English for those without their own.
func findForm(of map[string]Form, language string) Form {
	if f, ok := of[language]; ok {
		return f
	}
	return of["en"]
}

// isState reports whether a form is of where things stand.
func (f Form) isState() bool { return len(f.Sections) == len(states["en"].Sections) }

// Bare returns the shortest summary of a form: its headings, and a line under each.
func (f Form) Bare() string {
	var b strings.Builder
	for _, s := range f.Sections {
		b.WriteString("## " + s.Heading + "\n- " + f.None + "\n")
	}
	return b.String()
}

// CarriedMarks lists the headings of what is carried word for word, in all forms.
func CarriedMarks() (out []string) {
	for _, of := range []map[string]Form{states, notes} {
		for _, f := range of {
			if mark := "\n## " + f.Said + "\n"; !slices.Contains(out, mark) {
				out = append(out, mark)
			}
		}
	}
	slices.Sort(out)
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
	if bare == "" {
		return true
	}
	for _, n := range notes {
		if strings.EqualFold(bare, n.None) {
			return true
		}
	}
	return false
}
