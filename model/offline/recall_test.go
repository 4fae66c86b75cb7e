package offline_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
)

var (
	recallTools = []scrollback.Tool{{Name: "context_list"}, {Name: "context_search"}, {Name: "context_grep"}}
	fold        = scrollback.Ref("history:0198c0de")
)

// answered appends a call the model made and the result it got.
func answered(r model.Request, c scrollback.ToolCall, text string, isError bool) model.Request {
	n := int64(len(r.Items)) + 10
	r.Items = append(r.Items, item(n, scrollback.RoleAssistant, c), item(n+1, scrollback.RoleTool,
		scrollback.ToolResult{CallID: c.ID, Name: c.Name, Text: text, Recall: true, IsError: isError}))
	return r
}

func call(t *testing.T, r model.Request, name, args string) scrollback.ToolCall {
	t.Helper()
	a := ask(t, r)
	if len(a.Calls) != 1 || a.Calls[0].Name != name || a.Finish != scrollback.FinishToolCalls || a.Text != "" {
		t.Fatalf("want a call of %s, got %+v", name, a)
	}
	if got := string(a.Calls[0].Arguments); got != args {
		t.Errorf("%s of %s, want %s", name, got, args)
	}
	return a.Calls[0]
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func hits(hs ...scrollback.Hit) scrollback.SearchResult {
	return scrollback.SearchResult{Hits: append([]scrollback.Hit{}, hs...)}
}

func hit(seq int64, role scrollback.Role, text string) scrollback.Hit {
	return scrollback.Hit{ConversationID: "c", Seq: seq, MessageID: "m", Role: role, Content: text, Snippet: "…" + text,
		Ref: &fold}
}

const (
	blueQuestion = "What is the access code of the blue depot?"
	blueFact     = "The access code of the blue depot is 7F3K-221."
	blueSearch   = `{"query":"access code blue depot","limit":5}`
	blueGrep     = `{"pattern":"access","max_results":20}`
)

func TestSearchResults(t *testing.T) {
	near := hit(4, scrollback.RoleAssistant, "I see.")
	near.After = []scrollback.Message{{Seq: 5, Role: scrollback.RoleUser,
		Parts: scrollback.Parts{scrollback.Text{Text: blueFact}}}}
	whole := asJSON(t, hits(hit(7, scrollback.RoleUser, "The red depot is closed. "+blueFact),
		hit(9, scrollback.RoleUser, "The red one has a cellar.")))
	want := func(seq string) string { return foundEN + "[" + seq + "] “" + blueFact + "”" }
	for name, c := range map[string]struct{ text, want string }{
		"a hit":          {whole, want("#7")},
		"a neighbour":    {asJSON(t, hits(near)), want("#5")},
		"own echo":       {asJSON(t, hits(hit(30, scrollback.RoleAssistant, foundEN+"[#7] “"+blueFact+"”"))), want("#7")},
		"unknown fields": {`{"took":3,"hits":[{"new":{},"seq":7,"content":"` + blueFact + `"}]}`, want("#7")},
		"clipped after":  {whole[:strings.Index(whole, `"snippet"`)] + "\n[clipped: 12,345 bytes more]", want("#7")},
		"clipped within": {whole[:strings.Index(whole, blueFact)+len(blueFact)] + "\n[clipped]", want("#7")},
		"clipped escape": {`{"hits":[{"seq":7,"content":"` + blueFact + `\n\u4`, want("#7")},
		"plain text":     {"3 hits\n" + blueFact, want("#11")},
		"other escapes":  {`{"hits":[{"seq":7,"content":"He said \"ok\".\n` + blueFact + `"},{`, want("#7")},
	} {
		r := talk("user: " + blueQuestion)
		r.Tools = recallTools
		r.Items[0].Seq = 99
		r = answered(r, call(t, r, "context_search", blueSearch), c.text, false)
		r.Items[len(r.Items)-1].Seq = 11
		if got := ask(t, r); got.Text != c.want {
			t.Errorf("%s: got %+v\nwant %s", name, got, c.want)
		}
	}
}

// What does not answer leads to one grep, and then to the end.
func TestSearchThenGrep(t *testing.T) {
	ref := fold
	for name, c := range map[string]struct {
		search, grep string
		failed       bool
		want         string
	}{
		"nothing":   {asJSON(t, hits()), `{"total":0,"matches":[]}`, false, noneEN},
		"null":      {`{"hits":null}`, `{"total":0,"matches":null}`, false, noneEN},
		"malformed": {`{"hits":[{"seq":`, `{]`, false, noneEN},
		"errors":    {"unknown query: access code blue depot", "the access code of the blue depot failed", true, noneEN},
		"says none": {`No results for "access code blue depot".`, "nothing found", false, noneEN},
		"question only": {asJSON(t, hits(hit(2, scrollback.RoleUser, blueQuestion),
			hit(3, scrollback.RoleUser, "Tell me the access code of the blue depot"))),
			`{"total":1,"matches":[{"ref":null,"seq":99,"line":1,"content":"` + blueQuestion + `"}]}`, false, noneEN},
		"another depot": {asJSON(t, hits(hit(2, scrollback.RoleUser, "The access code of the red depot is 5."))),
			`{"total":0,"matches":[]}`,
			false,
			nearEN + "[#2] “The access code of the red depot is 5.”"},
		"grep finds": {asJSON(t, hits()), asJSON(t, scrollback.GrepResult{Total: 1,
			Matches: []scrollback.GrepMatch{{Seq: 8, Line: 1, Content: blueFact}}}), false,
			foundEN + "[#8] “" + blueFact + "”"},
		"grep finds a folded line": {asJSON(t, hits()),
			asJSON(t, scrollback.GrepResult{Total: 1,
				Matches: []scrollback.GrepMatch{{Ref: &ref, Line: 34, Content: "> " + blueFact}}}), false,
			foundEN + "[history:0198c0de line 34] “" + blueFact + "”"},
		"grep finds an echo": {asJSON(t, hits()),
			asJSON(t, scrollback.GrepResult{Total: 1,
				Matches: []scrollback.GrepMatch{{Ref: &ref, Line: 34, Content: "[#8] “" + blueFact + "”"}}}),
			false,
			foundEN + "[#8] “" + blueFact + "”"},
	} {
		t.Run(name, func(t *testing.T) {
			r := talk("user: " + blueQuestion)
			r.Tools = recallTools
			r.Items[0].Seq = 99
			first := call(t, r, "context_search", blueSearch)
			r = answered(r, first, c.search, c.failed)
			grep := blueGrep
			if name == "another depot" {
				grep = `{"pattern":"blue","max_results":20}` // what the hits lack
			}
			second := call(t, r, "context_grep", grep)
			if first.ID == second.ID {
				t.Errorf("both calls have id %q", first.ID)
			}
			if got := ask(t, answered(r, second, c.grep, c.failed)); got.Text != c.want {
				t.Errorf("got %+v\nwant %s", got, c.want)
			}
		})
	}
}

func TestSearchInChinese(t *testing.T) {
	r := talk("user: 请问蓝色仓库的门禁码是多少？")
	r.Tools = recallTools
	r = answered(r, call(t, r, "context_search", `{"query":"蓝色仓库 门禁码","limit":5}`),
		asJSON(t, hits(hit(7, scrollback.RoleUser, "红色仓库的门禁码是 1。蓝色仓库的门禁码是 7F3K-221。"))), false)
	if got, want := ask(t, r).Text, foundZH+"[#7] “蓝色仓库的门禁码是 7F3K-221。”"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// It calls only what is offered and allowed, and never under an id in use.
func TestCalls(t *testing.T) {
	r := talk("user: " + blueQuestion)
	if got := ask(t, r); got.Text != noneEN {
		t.Errorf("without tools: %s", got.Text)
	}
	r.Tools = recallTools
	first := call(t, r, "context_search", blueSearch)
	r.AnswerOnly = true
	if got := ask(t, r); got.Text != noneEN || len(got.Calls) > 0 {
		t.Errorf("answer only: %+v", got)
	}
	r.AnswerOnly = false
	r.Tools = recallTools[2:]
	call(t, r, "context_grep", blueGrep)

	r.Tools = recallTools
	used := model.Request{Tools: recallTools,
		Items: append([]scrollback.Item{item(0, scrollback.RoleAssistant, first)}, r.Items...)}
	if again := call(t, used, "context_search", blueSearch); again.ID == first.ID {
		t.Errorf("id %q twice in a window", again.ID)
	}
	searched := answered(r, first, asJSON(t, hits()), false)
	searched.Tools = recallTools[:2]
	if got := ask(t, searched); got.Text != noneEN {
		t.Errorf("without grep: %+v", got)
	}

	r = talk("user: Which file mentions ERR-4041 and Kestrel?")
	r.Tools = recallTools[2:]
	call(t, r, "context_grep", `{"pattern":"Kestrel","max_results":20}`)
}
