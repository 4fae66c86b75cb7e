package engine

import (
	"cmp"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// matchResults checks that results, by the ids of their calls, are for exactly the open calls.
func matchResults(open []scrollback.ToolCall, ids []string) error {
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
	return nil
}

// orderResults puts results in the order of their calls; others come last.
func orderResults(calls []scrollback.ToolCall, results []ToolResult) []ToolResult {
	place := func(r ToolResult) int {
		if i := slices.IndexFunc(calls, func(c scrollback.ToolCall) bool { return c.ID == r.CallID }); i >= 0 {
			return i
		}
		return len(calls)
	}
	out := slices.Clone(results)
	slices.SortStableFunc(out, func(a, b ToolResult) int { return cmp.Compare(place(a), place(b)) })
	return out
}

// listCalls lists calls for a sentence.
func listCalls(calls []scrollback.ToolCall) string {
	ids := make([]string, len(calls))
	for i, c := range calls {
		ids[i] = c.ID + " (" + c.Name + ")"
	}
	return strings.Join(ids, ", ")
}
