package anthropic

import (
	"encoding/json"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
)

const (
	searchTool  = "web_search_20250305" // the server's own tool, in the version that is asked for
	maxSearches = 5                     // of one answer
)

// mayServerSearch reports whether the server may search the web for this request.
func (d *requestDraft) mayServerSearch() bool { return d.r.WebSearch && !d.isDropped(model.WebSearch) }

// recognizeNoSearch recognises that the server does not search the web for this model or account.
func (d *requestDraft) recognizeNoSearch(p remote.Problem) bool {
	words := strings.ToLower(p.Message)
	return d.mayServerSearch() && (p.Status == 400 || p.Status == 403) &&
		(strings.Contains(words, "web_search") || strings.Contains(words, "web search"))
}

// emitQuery emits what the server searches for.
func (r *answerReader) emitQuery(b *openBlock) error {
	var input struct {
		Query string `json:"query"`
	}
	if b.start.Name != model.WebSearch || json.Unmarshal(b.callArguments(), &input) != nil {
		return nil
	}
	return r.found.BeginSearch(r.a, input.Query)
}

// emitResults emits what the server found: a list of pages, or why there is none.
func (r *answerReader) emitResults(b *openBlock) error {
	var pages []struct {
		Title string `json:"title"`
		URL   string `json:"url"`
	}
	if json.Unmarshal(b.start.Content, &pages) != nil {
		r.found.MarkFailed("the model's server could not search the web")
		return r.found.EmitSearch(r.a)
	}
	for _, p := range pages {
		r.found.AddPage(scrollback.Source{Title: p.Title, URL: p.URL})
	}
	return r.found.EmitSearch(r.a)
}

// joinsText reports whether a block goes on with the text before it: an answer that cites
// pages comes in many blocks of text. What the server did between them is a paragraph.
func (r *answerReader) joinsText(kind string) (bool, error) {
	if !r.web || !r.open || r.last != "text" {
		return false, nil
	}
	switch kind {
	case "text":
		if !r.gap {
			return true, nil
		}
		r.gap = false
		return true, r.a.EmitDelta(model.Delta{Text: "\n\n"})
	case "server_tool_use", "web_search_tool_result":
		r.gap = true
		return true, nil
	}
	return false, nil
}
