// Package words says the sentences of the catalogue to people in a terminal.
//
// Words it adds: texts (what says them, in one language).
//
// Invariants: what was stored in English and has a sentence in the catalogue is said in the
// language of its reader. What came from elsewhere is said without the characters that make
// a terminal do something.
//
// It may not know where the words go, nor the environment: its callers say which language.
package words

import (
	"cmp"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/server/language"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
)

// Texts says what a terminal says, in one language; the zero value in English.
type Texts i18n.Language

// The languages.
const (
	English = Texts(i18n.English)
	Chinese = Texts(i18n.Chinese)
)

// Of returns the language of a locale as the environment names it, in the order
// LC_ALL, LC_MESSAGES, LANG: the first that is not empty decides.
func Of(locales ...string) Texts { return Texts(i18n.Of(locales...)) }

// Say returns a sentence with its values.
func (t Texts) Say(id i18n.ID, values ...any) string { return i18n.Language(t).Say(id, values...) }

// Named says a member of a family of names, such as the states of a turn.
func (t Texts) Named(family, member string) string { return i18n.Language(t).Of(family, member) }

// Count returns how many things there are; one is for a single one.
func (t Texts) Count(n int64, one, many i18n.ID) string {
	if n == 1 {
		return t.Say(one, "1")
	}
	return t.Say(many, columns.FormatThousands(n))
}

// Head says the headings of a table; an empty one stays empty.
func (t Texts) Head(headings ...i18n.ID) []string {
	row := make([]string, len(headings))
	for i, h := range headings {
		if h != "" {
			row[i] = t.Say(h)
		}
	}
	return row
}

// storedAdvice has what is added for people to what is stored of a reference.
var storedAdvice = map[string]i18n.ID{
	"refused: no folder was granted": i18n.ReferenceNoFolderGranted,
	"refused: outside the roots":     i18n.ReferenceOutsideRoots,
}

// Reference returns what was stored of a reference, sentence by sentence. One that the catalogue does
// not have stays as it is.
func (t Texts) Reference(stored string) string {
	out := strings.Split(stored, "; ")
	for i, s := range out {
		if id := storedAdvice[s]; id != "" {
			out[i] = t.Say(id)
		} else {
			out[i] = t.Reason(s)
		}
	}
	return strings.Join(out, t.Say(i18n.ReferenceBetween))
}

// WebState says whether the web is searched.
func (t Texts) WebState(on bool) string {
	if on {
		return t.Say(i18n.WebOn)
	}
	return t.Say(i18n.WebOff)
}

// Result returns a compaction's result as a person reads it.
func (t Texts) Result(r scrollback.CompactionResult) string {
	return t.Named("compaction-result", string(r))
}

// Reason says in the language why something of a file was skipped, or a summary not used.
func (t Texts) Reason(english string) string { return i18n.Language(t).Translate(english) }

// Why returns why there is no summary of a model; empty if there is, or if nobody would expect one.
func (t Texts) Why(r scrollback.Receipt) string {
	if r.SummaryResult == "" {
		return columns.ClipText(t.Reason(r.SummaryWhy), whyWidth)
	}
	if r.SummaryWhy == "" {
		return t.Result(r.SummaryResult)
	}
	return t.Say(i18n.TroubleWhy, t.Result(r.SummaryResult), columns.ClipText(t.Reason(r.SummaryWhy), whyWidth))
}

// Extracted says that extracts stand for what was compacted because there is no summary of a model, and
// why; empty as Why is.
func (t Texts) Extracted(r scrollback.Receipt) string {
	why := t.Why(r)
	if why == "" || r.SummaryBy != scrollback.SummaryExtractive {
		return why
	}
	return t.Say(i18n.TroubleInstead, why)
}

// whyWidth is how much of a reason is shown, in columns.
const whyWidth = 160

// Failure returns what went wrong with a turn, one line each: the reason, what the provider
// said, and what can be done about it. again is what to type for another try, or empty.
func (t Texts) Failure(f scrollback.Failure, again string, ways Ways) []string {
	if t == Chinese {
		f = language.Chinese.Failure(f)
	}
	lines := []string{columns.StripControls(f.Message)}
	if f.Cause != "" {
		lines = append(lines, t.Say(i18n.TroubleCause, columns.StripControls(f.Cause)))
	}
	if todo := t.advice(f); todo != "" {
		lines = append(lines, t.Say(i18n.TroubleTodo, todo))
	}
	if !f.Permanent {
		return append(lines, t.again(again)...)
	}
	if f.Suspect > 0 && ways.Without != "" {
		lines = append(lines, t.Say(i18n.TroubleWithout, f.Suspect, ways.without(f.Suspect)))
	}
	if f.Suspect > 1 && ways.Back != "" {
		lines = append(lines, t.Say(i18n.TroubleBack, f.Suspect, ways.back(f.Suspect-1)))
	}
	return lines
}

func (t Texts) advice(f scrollback.Failure) string {
	if id := i18n.Under("advice-setting", string(f.Advice)); id != "" && f.Setting != "" {
		return t.Say(id, columns.StripControls(f.Setting))
	}
	return t.Named("advice", string(f.Advice))
}

func (t Texts) again(command string) []string {
	if command == "" {
		return nil
	}
	return []string{t.Say(i18n.TroubleAgain, command)}
}

// Finish returns why a turn ended as it did; empty for an ordinary end.
func (t Texts) Finish(reason string) string {
	if i18n.Under("finish-reason", reason) == "" {
		return ""
	}
	return t.Named("finish-reason", reason)
}

// TroubleOf returns what there is to say about a turn besides what it wrote, one line each.
func (t Texts) TroubleOf(e scrollback.TurnEntry, again string, ways Ways) []string {
	if !e.Retry {
		again = ""
	}
	switch reason := t.Finish(e.FinishReason); {
	case e.Error != nil:
		return t.Failure(*e.Error, again, ways)
	case reason != "":
		return append([]string{reason}, t.again(again)...)
	}
	return t.again(again)
}

// Left returns what became of a turn, for a chat that is resumed: how it ended, why, and what
// to do.
func (t Texts) Left(e scrollback.TurnEntry) string {
	lines := t.TroubleOf(e, RetryInChat, WaysInChat)
	state := t.State(e.State)
	if len(lines) > 0 {
		state = t.Say(i18n.TroubleWhy, state, strings.Join(lines, "\n  "))
	}
	return t.Say(i18n.TroubleMark, state)
}

// State returns the state of a turn as a person reads it.
func (t Texts) State(s scrollback.TurnState) string { return t.Named("turn-state", string(s)) }

// Unfinished marks a message that is not complete; empty for one that is.
func (t Texts) Unfinished(s scrollback.Status) string {
	if s == scrollback.StatusComplete {
		return ""
	}
	return t.Say(i18n.TroubleMark, cmp.Or(t.State(scrollback.TurnState(s)), string(s)))
}
