package engine

import (
	"cmp"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store"
)

// matchResults checks that results, by the ids of their calls, are for exactly the open calls, gives
// each in the messages the name of its tool, and puts them in the order of the calls.
func matchResults(open []scrollback.ToolCall, ids []string, in []store.IncomingMessage) error {
	names := map[string]string{}
	for _, c := range open {
		names[c.ID] = c.Name
	}
	seen := map[string]bool{}
	for _, id := range ids {
		if names[id] == "" || seen[id] {
			return scrollback.ParamErrorf(
				"engine.Turn",
				"tool_results",
				i18n.ResultAnswersNoOpenCall,
				id,
				listCalls(open),
			)
		}
		seen[id] = true
	}
	if len(seen) != len(open) {
		return scrollback.ParamErrorf(
			"engine.Turn",
			"tool_results",
			i18n.EveryOpenCallNeedsResult,
			listCalls(open),
		)
	}
	place := func(p scrollback.Part) int {
		res, ok := p.(scrollback.ToolResult)
		if !ok {
			return len(open)
		}
		return slices.IndexFunc(open, func(c scrollback.ToolCall) bool { return c.ID == res.CallID })
	}
	for _, m := range in {
		for i, p := range m.Parts {
			if res, ok := p.(scrollback.ToolResult); ok {
				res.Name = names[res.CallID]
				m.Parts[i] = res
			}
		}
		slices.SortStableFunc(m.Parts, func(a, b scrollback.Part) int { return cmp.Compare(place(a), place(b)) })
	}
	return nil
}

// listCalls lists calls for a sentence.
func listCalls(calls []scrollback.ToolCall) string {
	ids := make([]string, len(calls))
	for i, c := range calls {
		ids[i] = c.ID + " (" + c.Name + ")"
	}
	return strings.Join(ids, ", ")
}
