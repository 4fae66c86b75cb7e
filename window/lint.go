package window

import (
	"fmt"

	"github.com/scrollback-ai/scrollback"
)

// Rule is something that a provider's wire demands.
type Rule struct {
	Name string
	Text string // what holds in a window that keeps it
	Why  string // what happens otherwise

	holds func(scrollback.Dialect) bool
	judge ruleCheck
}

// ruleCheck returns the index of the first item that breaks a rule, and how; no words if
// none does. What is missing at the end is a breach by the item after the last.
type ruleCheck func(scrollback.Window, scrollback.Dialect) (int, string)

// AppliesTo reports whether a dialect has the rule.
func (r Rule) AppliesTo(d scrollback.Dialect) bool { return r.holds == nil || r.holds(d) }

// FindBreach returns the index of the first item of a window that breaks the rule, and how;
// no words if none does.
func (r Rule) FindBreach(w scrollback.Window, d scrollback.Dialect) (item int, how string) {
	if !r.AppliesTo(d) {
		return 0, ""
	}
	return r.judge(w, d)
}

// Lint judges a window by the rules of a provider's dialect. Its error is the first
// breach, and names the rule and the item.
func Lint(w scrollback.Window, d scrollback.Dialect) error {
	at := 0
	first := ""
	how := ""
	for _, r := range Rules() {
		if i, words := r.FindBreach(w, d); words != "" && (how == "" || i < at) {
			at = i
			first = r.Name
			how = words
		}
	}
	switch {
	case how == "":
		return nil
	case at >= len(w.Items):
		return fmt.Errorf("rule %s: the end: %s", first, how)
	}
	it := &w.Items[at]
	return fmt.Errorf("rule %s: item %d (%s, #%d): %s", first, at, it.Kind, it.Seq, how)
}

// eachItem judges items one by one, except definitions of tools.
func eachItem(f func(scrollback.Item, scrollback.Dialect) string) ruleCheck {
	return func(w scrollback.Window, d scrollback.Dialect) (int, string) {
		for i, it := range w.Items {
			if it.Kind == scrollback.KindTools {
				continue
			}
			if how := f(it, d); how != "" {
				return i, how
			}
		}
		return 0, ""
	}
}

// eachPart judges the parts of one type.
func eachPart[T scrollback.Part](f func(T, scrollback.Dialect) string) ruleCheck {
	return eachItem(func(it scrollback.Item, d scrollback.Dialect) string {
		for _, p := range it.Parts {
			if v, ok := p.(T); ok {
				if how := f(v, d); how != "" {
					return how
				}
			}
		}
		return ""
	})
}

// eachTurn judges each turn with the one before it; the one before the first has no
// role.
func eachTurn(f func(before, it scrollback.Item) string) ruleCheck {
	return func(w scrollback.Window, _ scrollback.Dialect) (int, string) {
		var before scrollback.Item
		for i, it := range w.Items {
			if it.Role == scrollback.RoleSystem {
				continue
			}
			if how := f(before, it); how != "" {
				return i, how
			}
			before = it
		}
		return 0, ""
	}
}

// atEnd judges the last turn, which has no role if there is none.
func atEnd(f func(last scrollback.Item) string) ruleCheck {
	return func(w scrollback.Window, _ scrollback.Dialect) (int, string) {
		var last scrollback.Item
		for _, it := range w.Items {
			if it.Role != scrollback.RoleSystem {
				last = it
			}
		}
		return len(w.Items), f(last)
	}
}

// eachAnswer judges each item with the calls that are open before it, and then the end,
// as an item without a role.
func eachAnswer(f func(it scrollback.Item, open []scrollback.ToolCall) string) ruleCheck {
	return func(w scrollback.Window, _ scrollback.Dialect) (int, string) {
		var open []scrollback.ToolCall
		for i, it := range append(w.Items[:len(w.Items):len(w.Items)], scrollback.Item{}) {
			if it.Kind == scrollback.KindTools {
				continue
			}
			if how := f(it, open); how != "" {
				return i, how
			}
			switch it.Role {
			case scrollback.RoleTool:
				for _, r := range it.Parts.Results() {
					open = withoutCall(open, r.CallID)
				}
			case scrollback.RoleAssistant:
				open = it.Parts.Calls()
			default:
				open = nil
			}
		}
		return 0, ""
	}
}

func withoutCall(calls []scrollback.ToolCall, id string) []scrollback.ToolCall {
	var out []scrollback.ToolCall
	for _, c := range calls {
		if c.ID != id {
			out = append(out, c)
		}
	}
	return out
}
