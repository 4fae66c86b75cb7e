package recall

import (
	"encoding/json"

	"github.com/scrollback-ai/scrollback"
)

// Tools defines the recall tools for a model. The bytes never change within a
// version, so that a provider's prompt cache keeps hitting.
func Tools() []scrollback.Tool {
	return []scrollback.Tool{
		{
			Name:        "context_list",
			Description: "List the refs of this conversation: folded messages (history) in sight, big outputs or files (artifact), older history.",
			Parameters: json.RawMessage(`{"type":"object","properties":{` +
				`"kind":{"type":"string","enum":["history","artifact"]},` +
				`"limit":{"type":"integer","maximum":200,"default":50},` +
				`"cursor":{"type":"string","description":"the last next"}}}`),
		},
		{
			Name:        "context_read",
			Description: "Read the original behind a ref, or messages, in pages.",
			Parameters: json.RawMessage(`{"type":"object","properties":{` +
				`"ref":{"type":"string","description":"history:<id>, artifact:<id>, #392 or #392-#410"},` +
				`"offset":{"type":"integer","default":0,"description":"bytes: the last next_offset"},` +
				`"limit":{"type":"integer","maximum":65536,"default":8192,"description":"bytes"}},` +
				`"required":["ref"]}`),
		},
		{
			Name:        "context_tail",
			Description: "Read the last lines.",
			Parameters: json.RawMessage(`{"type":"object","properties":{` +
				`"ref":{"type":"string"},` +
				`"lines":{"type":"integer","maximum":2000,"default":200}},` +
				`"required":["ref"]}`),
		},
		{
			Name:        "context_grep",
			Description: "Find lines that match a regular expression (RE2) in the whole conversation, folded parts and big outputs included, or in one ref.",
			Parameters: json.RawMessage(`{"type":"object","properties":{` +
				`"ref":{"type":"string"},` +
				`"pattern":{"type":"string","maxLength":1000},` +
				`"max_results":{"type":"integer","maximum":200,"default":50},` +
				`"context_lines":{"type":"integer","maximum":20,"default":0},` +
				`"case_sensitive":{"type":"boolean","default":false}},` +
				`"required":["pattern"]}`),
		},
		{
			Name:        "context_kept",
			Description: "List the user's standing wishes, traits and open to-dos.",
			Parameters: json.RawMessage(`{"type":"object","properties":{` +
				`"all":{"type":"boolean","default":false},` +
				`"cursor":{"type":"string"}}}`),
		},
		{
			Name:        "context_search",
			Description: "Search past messages by words, names and dates, best first; words in \"quotes\" count for more, and must occur if there are no others. role:user, after:2026-03-01, before:2026-04 or on:2026-03-05 in the query narrow it.",
			Parameters: json.RawMessage(`{"type":"object","properties":{` +
				`"query":{"type":"string"},` +
				`"limit":{"type":"integer","maximum":50,"default":20},` +
				`"scope":{"type":"string","enum":["conversation","project","all"],"default":"conversation"},` +
				`"role":{"type":"string","enum":["system","user","assistant","tool"]},` +
				`"around":{"type":"integer","maximum":5,"default":1,"description":"neighbours on each side"},` +
				`"order":{"type":"string","enum":["relevance","time"],"default":"relevance","description":"time: the best, oldest first"}},` +
				`"required":["query"]}`),
		},
	}
}
