package mcpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/server/mcpapi"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// connected returns a client of a server over a pair of streams.
func connected(t *testing.T, v *engine.View, o mcpapi.Options) *mcp.ClientSession {
	t.Helper()
	o.Version = "test"
	o.Log = slog.New(slog.DiscardHandler)
	in, said := io.Pipe()
	heard, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- mcpapi.Serve(t.Context(), mcpapi.New(v, o), in, out) }()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
		&mcp.IOTransport{Reader: heard, Writer: said}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return c
}

// called calls a tool and reads its result, whose text and structure must be the same,
// no bigger than a result may be, and as the tool's schema says.
func called(t *testing.T, c *mcp.ClientSession, tool string, args map[string]any, into any) {
	t.Helper()
	r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil || r.IsError {
		t.Fatalf("%s %v: %+v, %v", tool, args, r, err)
	}
	text := r.Content[0].(*mcp.TextContent).Text
	var fromText any
	if err := json.Unmarshal([]byte(text), &fromText); err != nil || len(text) > 16<<10 {
		t.Fatalf("%s: %v, %d bytes: %s", tool, err, len(text), text)
	}
	structure, err := json.Marshal(r.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := json.Marshal(fromText); err != nil || string(plain) != string(structure) {
		t.Errorf("%s has the text %s and the structure %s", tool, plain, structure)
	}
	tools, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(tools.Tools, func(t *mcp.Tool) bool { return t.Name == tool })
	if why := fits(fromText, tools.Tools[i].OutputSchema.(map[string]any)); why != "" {
		t.Errorf("the result of %s is not of its schema: %s in %s", tool, why, text)
	}
	if into != nil {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
}

// fits returns where a value departs from a schema, of which it knows what ours use. A
// field that the schema does not name departs too.
func fits(v any, schema map[string]any) string {
	kinds, ok := schema["type"].([]any)
	if !ok {
		kinds = []any{schema["type"]}
	}
	kind := map[string]string{"string": "string", "float64": "integer", "bool": "boolean", "[]interface {}": "array",
		"map[string]interface {}": "object", "<nil>": "null"}[fmt.Sprintf("%T", v)]
	if !slices.Contains(kinds, any(kind)) {
		return fmt.Sprintf("%v is no %v", v, kinds)
	}
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			if why := fits(one, schema["items"].(map[string]any)); why != "" {
				return why
			}
		}
	case map[string]any:
		fields, _ := schema["properties"].(map[string]any)
		if fields == nil {
			return ""
		}
		for name, one := range v {
			if fields[name] == nil {
				return name + " is not in it"
			}
			if why := fits(one, fields[name].(map[string]any)); why != "" {
				return name + ": " + why
			}
		}
		required, _ := schema["required"].([]any)
		for _, name := range required {
			if v[name.(string)] == nil && name != "ref" {
				return name.(string) + " is missing"
			}
		}
	}
	return ""
}

type pageOfMessages struct {
	Total    int64
	Messages []struct {
		Seq        int64
		Role       scrollback.Role
		Status     string
		Text       string
		NextOffset int `json:"next_offset"`
	}
	Before, After int64
}

// A conversation whose title holds the beginning of its own id is listed once for it.
func TestFoundByTitleAndID(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("x"))
	id := r.NewConversation()
	_, err := r.Patch(t.Context(), id, 0, func(c *scrollback.Conversation) error {
		c.Title = string(id[:8])
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Conversations []struct{ ID scrollback.ConversationID }
	}
	called(t, connected(t, r.View, mcpapi.Options{}), "context_conversations", map[string]any{"query": string(id[:8])},
		&list)
	if len(list.Conversations) != 1 || list.Conversations[0].ID != id {
		t.Errorf("the list is %+v", list)
	}
}

// A conversation that was never compacted is found and read to its last character, from
// either end, whatever it holds.
func TestReadAll(t *testing.T) {
	long := strings.Repeat("潮水 \"quoted\" <tag> \\ and a line\n", 2000)
	r := enginetest.New(t, enginetest.Options{Limit: 200_000, NoFolds: true},
		modeltest.Call(enginetest.Call("c1", "clock", `{"zone":"UTC"}`)),
		modeltest.Say("It is "+long), modeltest.Say("fine"))
	id := r.NewConversation()
	r.Run(engine.TurnRequest{Conversation: id, Message: enginetest.Say("What is the time?"),
		Tools: enginetest.ClockTool}).WantDone(t,
		scrollback.TurnWaiting, "tool_calls")
	r.Run(engine.TurnRequest{Conversation: id,
		ToolResults: []engine.ToolResult{{CallID: "c1", Text: "no clock", IsError: true}}}).WantDone(t,
		scrollback.TurnComplete, "stop")
	for n := range 30 {
		r.Ask(id, fmt.Sprintf("question %d %s", n, strings.Repeat("and more ", 100*(n%5)))).WantDone(t,
			scrollback.TurnComplete,
			"stop")
	}
	log := r.Log(id)
	want := map[int64]string{2: `[calls clock {"zone":"UTC"}]`, 3: "[error of clock] no clock"}
	for _, m := range log {
		if text := m.Parts.Text(); text != "" {
			want[m.Seq] = text
		}
	}
	c := connected(t, r.View, mcpapi.Options{})
	var list struct {
		Conversations []struct {
			ID       scrollback.ConversationID
			Messages int64
		}
	}
	called(t, c, "context_conversations", map[string]any{"query": "time"}, &list)
	if len(list.Conversations) != 1 || list.Conversations[0].ID != id ||
		list.Conversations[0].Messages != int64(len(log)) {
		t.Fatalf("the list is %+v", list)
	}
	got := map[int64]string{}
	keep := func(p pageOfMessages) {
		for _, m := range p.Messages {
			got[m.Seq] = m.Text
			for next := m.NextOffset; next > 0; {
				var one pageOfMessages
				called(t, c, "context_messages", map[string]any{"conversation": "latest", "seq": m.Seq, "offset": next}, &one)
				got[m.Seq] += one.Messages[0].Text
				next = one.Messages[0].NextOffset
			}
		}
	}
	check := func(way string) {
		t.Helper()
		for _, m := range log {
			if got[m.Seq] != want[m.Seq] {
				t.Errorf("%s: message %d is %.80q (%d bytes), want %.80q (%d bytes)", way, m.Seq, got[m.Seq], len(got[m.Seq]),
					want[m.Seq], len(want[m.Seq]))
			}
		}
		clear(got)
	}
	args := map[string]any{"conversation": id, "limit": 100}
	for pages := 0; ; pages++ {
		var p pageOfMessages
		called(t, c, "context_messages", args, &p)
		if keep(p); p.Before == 0 {
			break
		}
		if args["before"] = p.Before; pages > 50 {
			t.Fatal("the pages do not end")
		}
	}
	check("backwards")
	args = map[string]any{"conversation": id, "after": 0}
	for pages := 0; ; pages++ {
		var p pageOfMessages
		called(t, c, "context_messages", args, &p)
		if keep(p); p.After == 0 {
			break
		}
		if args["after"] = p.After; pages > 50 {
			t.Fatal("the pages do not end")
		}
	}
	check("forwards")
}

// The results of the recall tools are as their schemas say too, and the list's refs
// can be read as they stand, also as resources.
func TestResultsFitSchemas(t *testing.T) {
	_, v, long, _ := folded(t)
	c := connected(t, v, mcpapi.Options{Conversation: long})
	var list struct{ Refs []string }
	called(t, c, "context_list", nil, &list)
	ref, _, _ := strings.Cut(list.Refs[0], " ")
	called(t, c, "context_read", map[string]any{"ref": ref, "limit": 500}, nil)
	called(t, c, "context_tail", map[string]any{"ref": ref, "lines": 5}, nil)
	called(t, c, "context_grep", map[string]any{"pattern": "depot 1(5|99)", "context_lines": 1}, nil)
	called(t, c, "context_search", map[string]any{"query": "depot 150", "around": 2}, nil)
	called(t, c, "context_messages", map[string]any{"after": 10, "limit": 3}, nil)
	called(t, c, "context_kept", map[string]any{"all": true}, nil)
	kind, id, _ := scrollback.Ref(ref).Split()
	uri := "scrollback://" + string(long) + "/" + kind + "/" + id
	if _, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err != nil {
		t.Error(err)
	}
	tools, err := c.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 7 {
		t.Fatalf("%d tools, %v", len(tools.Tools), err)
	}
	for _, tool := range tools.Tools {
		for name, p := range tool.InputSchema.(map[string]any)["properties"].(map[string]any) {
			p := p.(map[string]any)
			if p["description"] == "" || p["type"] == "integer" && p["minimum"] == nil {
				t.Errorf("%s of %s is described as %v", name, tool.Name, p)
			}
		}
		if a := tool.Annotations; tool.Title == "" || !a.ReadOnlyHint || !a.IdempotentHint || *a.OpenWorldHint {
			t.Errorf("%s: %+v", tool.Name, a)
		}
	}
}

// Where nothing is stored the tools say so, and where; a list of many long titles fits,
// and its pages join.
func TestNothingAndMuch(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{})
	c := connected(t, r.View, mcpapi.Options{Folder: "/data/here"})
	const why = "no conversations are stored in /data/here yet"
	var noted struct{ Note string }
	called(t, c, "context_conversations", nil, &noted)
	if noted.Note != why {
		t.Errorf("the list notes %q", noted.Note)
	}
	noted.Note = ""
	if called(t, c, "context_search", map[string]any{"query": "anything"}, &noted); noted.Note != why {
		t.Errorf("a search notes %q", noted.Note)
	}
	got, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "context_messages",
		Arguments: map[string]any{"conversation": "latest"}})
	if err != nil || !got.IsError || got.Content[0].(*mcp.TextContent).Text != why {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "summarize",
		Arguments: map[string]string{"conversation": "latest"}})
	if err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("a prompt fails with %v", err)
	}

	for n := range 120 {
		r.Clock.Add(1)
		title := strings.Repeat("很长的标题 ", 30) + fmt.Sprint(n)
		if _, _, err := r.Create(context.Background(), scrollback.Conversation{Title: title}); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[scrollback.ConversationID]bool{}
	cursor := ""
	for pages := 0; pages == 0 || cursor != ""; pages++ {
		var page struct {
			Conversations []struct{ ID scrollback.ConversationID }
			Next          string
		}
		called(t, c, "context_conversations", map[string]any{"limit": 100, "cursor": cursor}, &page)
		for _, one := range page.Conversations {
			seen[one.ID] = true
		}
		if cursor = page.Next; pages > 20 {
			t.Fatal("the pages do not end")
		}
	}
	if len(seen) != 120 {
		t.Errorf("the pages join to %d conversations", len(seen))
	}
	done, err := c.Complete(t.Context(), &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/prompt",
		Name: "summarize"},
		Argument: mcp.CompleteParamsArgument{Name: "conversation", Value: "标题"}})
	if err != nil || len(done.Completion.Values) != 100 || !done.Completion.HasMore {
		t.Errorf("%d completions, %v", len(done.Completion.Values), err)
	}
}
