package window

import (
	"encoding/json"
	"fmt"

	"github.com/scrollback-ai/scrollback"
)

// Lint judges a window by the rules that every provider's wire has, and by the
// dialect's own. It answers the first breach, or nil.
func Lint(w scrollback.Window, d scrollback.Dialect) error {
	var last scrollback.Role
	var open []scrollback.ToolCall
	for i, it := range w.Items {
		if it.Kind == scrollback.KindTools {
			continue
		}
		for _, rule := range rules {
			if err := rule(it, d); err != nil {
				return fmt.Errorf("item %d (%s, #%d): %w", i, it.Kind, it.Seq, err)
			}
		}
		if it.Role == scrollback.RoleTool {
			for _, r := range it.Parts.Results() {
				if !contains(open, r.CallID) {
					return fmt.Errorf("item %d (#%d): result %q answers no open call", i, it.Seq, r.CallID)
				}
				open = without(open, r.CallID)
			}
		} else if len(open) > 0 {
			return fmt.Errorf("item %d (%s, #%d): call %q is not answered before it", i, it.Kind, it.Seq, open[0].ID)
		}
		if d.Alternates && it.Role != scrollback.RoleSystem && it.Role != scrollback.RoleTool && it.Role == last {
			return fmt.Errorf("item %d (#%d): two %s items in a row", i, it.Seq, it.Role)
		}
		if d.Alternates && last == "" && it.Role != scrollback.RoleSystem && it.Role != scrollback.RoleUser {
			return fmt.Errorf("item %d (#%d): the %s speaks first", i, it.Seq, it.Role)
		}
		if it.Role != scrollback.RoleSystem {
			last = it.Role
		}
		if it.Role == scrollback.RoleAssistant {
			open = it.Parts.Calls()
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("the last item: call %q is not answered", open[0].ID)
	}
	return nil
}

// rules judge one item by itself.
var rules = []func(scrollback.Item, scrollback.Dialect) error{
	func(it scrollback.Item, _ scrollback.Dialect) error {
		_, err := scrollback.ParseRole(string(it.Role))
		return err
	},
	func(it scrollback.Item, _ scrollback.Dialect) error {
		if len(it.Parts) == 0 {
			return fmt.Errorf("it is empty")
		}
		return nil
	},
	partsOfRole,
	func(it scrollback.Item, d scrollback.Dialect) error {
		for _, p := range it.Parts {
			if n := partBytes(p); d.MaxPartBytes > 0 && n > d.MaxPartBytes {
				return fmt.Errorf("a part of %d bytes is over the provider's %d", n, d.MaxPartBytes)
			}
		}
		return nil
	},
}

// partsOfRole checks that each part may stand in a message of the item's role.
func partsOfRole(it scrollback.Item, _ scrollback.Dialect) error {
	seen := map[string]bool{}
	for _, p := range it.Parts {
		ok := true
		switch p := p.(type) {
		case scrollback.Text:
			ok = it.Role != scrollback.RoleTool && p.Text != ""
		case scrollback.Image, scrollback.File:
			ok = it.Role == scrollback.RoleUser
		case scrollback.ToolCall:
			ok = it.Role == scrollback.RoleAssistant && p.ID != "" && !seen[p.ID] && json.Valid(p.Arguments)
			seen[p.ID] = true
		case scrollback.ToolResult:
			ok = it.Role == scrollback.RoleTool && p.CallID != "" && !seen[p.CallID]
			seen[p.CallID] = true
		case scrollback.Reasoning:
			ok = it.Role == scrollback.RoleAssistant
		}
		if !ok {
			return fmt.Errorf("a %T may not stand in a %s message", p, it.Role)
		}
	}
	return nil
}

func partBytes(p scrollback.Part) int64 {
	switch p := p.(type) {
	case scrollback.Text:
		return int64(len(p.Text))
	case scrollback.Reasoning:
		return int64(len(p.Text))
	case scrollback.ToolCall:
		return int64(len(p.Arguments))
	case scrollback.ToolResult:
		return int64(len(p.Text))
	case scrollback.Image:
		return p.Size
	case scrollback.File:
		return 0 // sent by name, not by content
	}
	return 0
}

func contains(calls []scrollback.ToolCall, id string) bool {
	for _, c := range calls {
		if c.ID == id {
			return true
		}
	}
	return false
}

func without(calls []scrollback.ToolCall, id string) []scrollback.ToolCall {
	var out []scrollback.ToolCall
	for _, c := range calls {
		if c.ID != id {
			out = append(out, c)
		}
	}
	return out
}
