package transfer_test

import (
	"context"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// The export of a conversation comes back to it only if it is there, and the caller's;
// another project that is asked for gets a copy.
func TestWhoseConversationComesBack(t *testing.T) {
	ctx := context.Background()
	for _, format := range []string{"gemini-cli", "jsonl"} {
		t.Run(format, func(t *testing.T) {
			r := enginetest.New(t, enginetest.Options{}, modeltest.Say("a"))
			id := r.NewConversation()
			r.Ask(id, "q1").WantDone(t, scrollback.TurnComplete, "stop")
			var b strings.Builder
			if err := r.Export(ctx, id, transfer.ExportRequest{Format: format}, &b); err != nil {
				t.Fatal(err)
			}
			comesBack(t, r, id, b.String(), 0)
			brought := func(v *engine.View, q transfer.ImportRequest, want int64) {
				t.Helper()
				out, err := r.Transfer.Import(ctx, v, strings.NewReader(b.String()), q)
				if err != nil || len(out.Conversations) != 1 || out.Conversations[0].ID == id ||
					out.Conversations[0].Messages != want {
					t.Errorf("%+v, %v", out, err)
				}
			}
			brought(r.Engine.As(scrollback.Caller{Access: scrollback.AccessWrite, Projects: []string{"theirs"}}),
				transfer.ImportRequest{Project: "theirs"}, 2)
			brought(r.View, transfer.ImportRequest{Project: "copies"}, 2)
			brought(r.View, transfer.ImportRequest{Project: "copies"}, 0)
			was := r.LogOutline(id)
			if _, err := r.Branches().Fork(ctx, id, engine.Point{}, ""); err != nil {
				t.Fatal(err)
			}
			if _, err := r.Trash(ctx, id); err != nil {
				t.Fatal(err)
			}
			_, err := r.ImportText(b.String())
			enginetest.WantCode(t, err, scrollback.Conflict, "trash")
			if _, err := r.Purge(ctx, id); err != nil {
				t.Fatal(err)
			}
			out, err := r.ImportText(b.String())
			if err != nil || out.Conversations[0].ID == id || r.LogOutline(out.Conversations[0].ID) != was {
				t.Errorf("after a purge: %+v, %v", out, err)
			}
		})
	}
}
