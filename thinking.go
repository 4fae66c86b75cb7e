package scrollback

import (
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// Thinking is how much a model should think before it answers; the zero value
// leaves it to the model. It means the same to every provider: an effort, or a
// budget in tokens, or only whether to think at all. A setting that a protocol lacks is
// translated into one that it has, by the table of [Thinking.EffortLevel] and
// [Thinking.BudgetTokens].
type Thinking struct {
	Effort string `json:"Effort"` // none, minimal, low, medium, high, xhigh or max; empty for the model's own
	On     *bool  `json:"On"`     // nil leaves it as it is
	Budget int64  `json:"Budget"` // tokens; 0 for the model's own
}

// efforts are the levels from the least to the most, and what each is in tokens.
var efforts = []struct {
	name   string
	tokens int64
}{{"none", 0}, {"minimal", 1024}, {"low", 2048}, {"medium", 8192}, {"high", 16384}, {"xhigh", 24576}, {"max", 32768}}

// Efforts lists the levels of effort, from the least to the most.
func Efforts() []string {
	var out []string
	for _, e := range efforts {
		out = append(out, e.name)
	}
	return out
}

// Or returns t, with what it leaves open taken from o.
func (t Thinking) Or(o Thinking) Thinking {
	if t == (Thinking{}) {
		return o
	}
	return t
}

// IsWanted reports whether to think: nil leaves it to the model.
func (t Thinking) IsWanted() *bool {
	yes := true
	no := false
	switch {
	case t.Effort == "none":
		return &no
	case t.On != nil:
		return t.On
	case t.Effort != "" || t.Budget > 0:
		return &yes
	}
	return nil
}

// IsOff reports whether thinking is turned off.
func (t Thinking) IsOff() bool { w := t.IsWanted(); return w != nil && !*w }

// EffortLevel returns the effort, that of a budget if only one is given, "none" when no
// thinking is wanted, and empty when it is left to the model. Of the levels known to
// a protocol, the nearest below or else above is used; none given means all.
func (t Thinking) EffortLevel(known ...string) string {
	name := t.Effort
	switch {
	case t.IsOff():
		name = "none"
	case name == "" && t.Budget > 0:
		for _, e := range efforts[1:] {
			if name == "" || e.tokens <= t.Budget {
				name = e.name
			}
		}
	}
	if name == "" || len(known) == 0 || slices.Contains(known, name) {
		return name
	}
	at := slices.Index(Efforts(), name)
	for i := at; i > 0; i-- {
		if slices.Contains(known, efforts[i].name) {
			return efforts[i].name
		}
	}
	for _, e := range efforts[at:] {
		if slices.Contains(known, e.name) {
			return e.name
		}
	}
	return ""
}

// BudgetTokens returns the budget, or that of the effort if only one is given, below most,
// so that something is left for the answer; 0 when it is left to the model, or no
// thinking is wanted.
func (t Thinking) BudgetTokens(most int64) int64 {
	n := t.Budget
	if n == 0 {
		for _, e := range efforts {
			if e.name == t.Effort {
				n = e.tokens
			}
		}
	}
	if t.IsOff() || n == 0 {
		return 0
	}
	if most > 0 {
		n = min(n, most*3/4)
	}
	return n
}

// Check returns an error that names the parameter at fault, if there is one.
func (t Thinking) Check() error {
	if t.Effort != "" && !slices.Contains(Efforts(), t.Effort) {
		return ParamErrorf("model", "reasoning_effort", i18n.UnknownEffort, t.Effort, strings.Join(Efforts(), ", "))
	}
	if t.Budget < 0 {
		return ParamErrorf("model", "thinking_budget", i18n.ThinkingBudgetImpossible, t.Budget)
	}
	if t.Effort != "" && t.On != nil && *t.On != (t.Effort != "none") {
		return ParamErrorf("model", "thinking", i18n.ThinkingContradictsEffort, *t.On, t.Effort)
	}
	return nil
}
