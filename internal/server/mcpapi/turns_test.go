package mcpapi_test

import (
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/server/mcpapi"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// A turn that failed before it said anything is shown behind its question, with the reason.
func TestMessagesShowFailedTurns(t *testing.T) {
	failure := scrollback.Errorf(scrollback.Refused, "test", "the account is closed")
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("one"), modeltest.Step{Err: failure},
		modeltest.Say("three"))
	id := r.NewConversation()
	r.Ask(id, "first").WantDone(t, scrollback.TurnComplete, "stop")
	r.Ask(id, "second")
	r.Ask(id, "third").WantDone(t, scrollback.TurnComplete, "stop")
	ours, theirs := mcp.NewInMemoryTransports()
	server := mcpapi.New(r.View, mcpapi.Options{Version: "test", Log: slog.New(slog.DiscardHandler)})
	if _, err := server.Connect(t.Context(), theirs, nil); err != nil {
		t.Fatal(err)
	}
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, page := range []struct {
		args map[string]any
		want int
	}{{nil, 1}, {map[string]any{"seq": 3}, 1}, {map[string]any{"seq": 1}, 0}, {map[string]any{"before": 3}, 0}} {
		args := map[string]any{"conversation": string(id)}
		for k, v := range page.args {
			args[k] = v
		}
		out, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "context_messages", Arguments: args})
		if err != nil || out.IsError {
			t.Fatalf("%+v, %v", out, err)
		}
		var got struct {
			Turns []struct {
				AfterSeq     int64 `json:"after_seq"`
				State, Error string
			}
		}
		if err := json.Unmarshal([]byte(out.Content[0].(*mcp.TextContent).Text), &got); err != nil ||
			len(got.Turns) != page.want {
			t.Fatalf("%v shows the turns %+v, %v", page.args, got.Turns, err)
		}
		if page.want > 0 && (got.Turns[0].AfterSeq != 3 || got.Turns[0].State != "failed" || got.Turns[0].Error == "") {
			t.Errorf("the turn is shown as %+v", got.Turns[0])
		}
	}
}
