package threading_test

import (
	"context"
	"fmt"
	"time"

	"github.com/scrollback-ai/scrollback/internal/threading"
	"github.com/scrollback-ai/scrollback/internal/threading/dialect"
)

// A client without an id sends what was said so far with each request. The second one goes on with the first one's
// thread, and only its last message is new; the third has another second prompt.
func Example() {
	ctx := context.Background()
	memory := threading.NewMemory()
	matcher := &threading.Matcher{Index: memory, Table: threading.BuiltInTable()}
	scope := threading.Scope{Project: "work", Caller: "key-1"}
	now := time.Date(2027, 1, 1, 12, 0, 0, 0, time.UTC)
	ids := 0
	next := func() string { ids++; return fmt.Sprint(ids) }
	branch := func() threading.BranchID { return threading.BranchID(next()) }

	for _, said := range []struct{ body, answer string }{
		{`{"role":"user","content":"Where is the key?"}`, "Under the mat."},
		{`{"role":"user","content":"Where is the key?"},{"role":"assistant","content":"Under the mat."},
			{"role":"user","content":"And the mat?"}`, "At the door."},
		{`{"role":"user","content":"Where is the key?"},{"role":"assistant","content":"Under the mat."},
			{"role":"user","content":"Which mat?"}`, "The green one."},
	} {
		header := func(string) string { return "" }
		request, err := dialect.Read(threading.Chat, header, []byte(`{"model":"m","messages":[`+said.body+`]}`))
		if err != nil {
			panic(err)
		}
		match, err := matcher.Match(ctx, scope, request, now)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s, %s: %d sent before, new %q\n", match.Purpose, match.Course, match.Sent, match.New[0].Text)
		rows := match.Begin(threading.IDs{Thread: threading.ThreadID(next()), Request: threading.RequestID(next()),
			Branch: branch})
		if err := memory.Write(rows); err != nil {
			panic(err)
		}
		answer := threading.Answer{State: threading.Finished, Delivered: true, Items: []threading.Item{
			{Role: threading.Assistant, Kind: threading.Text, Text: said.answer}}}
		if rows, err = matcher.Finish(ctx, match, answer, now, branch); err != nil {
			panic(err)
		}
		if err := memory.Write(rows); err != nil {
			panic(err)
		}
	}
	// Output:
	// turn, begins: 0 sent before, new "Where is the key?"
	// turn, continues: 2 sent before, new "And the mat?"
	// turn, branches: 2 sent before, new "Which mat?"
}
