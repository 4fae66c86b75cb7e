package transfer_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/internal/workspace"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// What messages refer to goes out in every format of ours and comes in as it was; there, a
// file that has not changed is still known.
func TestReferencesTravel(t *testing.T) {
	ctx := context.Background()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	place := &workspace.Place{Roots: []string{root}}
	if err := os.WriteFile(filepath.Join(root, "a.md"), []byte("The key is under the mat.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := enginetest.New(t, enginetest.Options{Place: place, Limit: 32_000}, modeltest.Say("fine"))
	c, _, err := r.Create(ctx, scrollback.Conversation{Roots: []string{root}})
	if err != nil {
		t.Fatal(err)
	}
	r.Ask(c.ID, "Read @[a.md], @[none] and @[context_grep{\"pattern\":\"mat\"}].").WantDone(t, scrollback.TurnComplete,
		"stop")
	r.Ask(c.ID, "Read @[a.md].").WantDone(t, scrollback.TurnComplete, "stop")
	was := referring(r.Log(c.ID))
	if !strings.Contains(was, "SameAs:1") || !strings.Contains(was, "the mat") {
		t.Fatal(was)
	}
	for _, format := range []string{"bundle", "jsonl", "gemini-cli", "archive"} {
		t.Run(format, func(t *testing.T) {
			var out strings.Builder
			if format == "archive" {
				_, text := copyOf(t, r, c.ID)
				out.WriteString(text)
			} else if err := r.Export(ctx, c.ID, transfer.ExportRequest{Format: format}, &out); err != nil {
				t.Fatal(err)
			}
			there := enginetest.New(t, enginetest.Options{Place: place, Limit: 32_000}, modeltest.Say("fine"))
			in, err := there.ImportText(out.String())
			if err != nil || len(in.Conversations) != 1 {
				t.Fatal(in, err)
			}
			id := in.Conversations[0].ID
			if got := referring(there.Log(id)); got != was {
				t.Errorf("it came back as\n%s\nand was\n%s", got, was)
			}
			if _, err := there.Patch(ctx, id, 0,
				func(c *scrollback.Conversation) error { c.Roots = []string{root}; return nil }); err != nil {
				t.Fatal(err)
			}
			there.Ask(id, "Again @[a.md].").WantDone(t, scrollback.TurnComplete, "stop")
			ms := there.Log(id)
			if refs := ms[len(ms)-2].Parts.References(); len(refs) != 1 || refs[0].SameAs != 1 || refs[0].Version != 1 {
				t.Errorf("there it is %+v", refs)
			}
		})
	}
}

// referring returns what messages say and refer to.
func referring(ms []scrollback.Message) string {
	var b strings.Builder
	for _, m := range ms {
		for _, p := range m.Parts {
			if t, ok := p.(scrollback.Text); ok {
				fmt.Fprintf(&b, "%d %s %q", m.Seq, m.Role, t.Text)
				if t.Reference != nil {
					fmt.Fprintf(&b, " %+v", *t.Reference)
				}
				b.WriteString("\n")
			}
		}
	}
	return b.String()
}
