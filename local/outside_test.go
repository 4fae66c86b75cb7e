package local_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// outside is a program of somebody else's, which can import no room that is internal. It names what it hands in and
// what it gets.
const outside = `package outside

import (
	"context"
	"io"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/bundle"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/functions"
	"github.com/scrollback-ai/scrollback/local"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/token"
)

// Options are written out in full where they have names.
func Options(m model.Model, place *engine.Place) *local.Options {
	return &local.Options{
		Models:  map[string]model.Model{"mine": m},
		Known:   map[string]token.Facts{"mine": {}},
		Bundles: bundle.Limits{},
		Engine:  engine.Options{Place: place, Incoming: engine.MessageLimits{Parts: 10}},
	}
}

// Bring imports a file.
func Bring(ctx context.Context, sb *local.Scrollback, file io.ReadSeeker) ([]local.Imported, error) {
	var q local.ImportRequest
	q.Name = "talk.jsonl"
	var r local.ImportResult
	r, err := sb.Import(ctx, file, q)
	return r.Conversations, err
}

// Take exports and copies a conversation.
func Take(ctx context.Context, sb *local.Scrollback, id scrollback.ConversationID, to io.Writer) (local.Copy, error) {
	if err := sb.Export(ctx, id, local.ExportRequest{Format: "jsonl"}, to); err != nil {
		return local.Copy{}, err
	}
	var t *local.Transfer = sb.Transfer
	var all local.Copies = t.Copies()
	return all.Write(ctx, sb.View, id)
}

// Look reads originals.
func Look(ctx context.Context, v *engine.View, id scrollback.ConversationID) (engine.SegmentList, engine.Leaves, error) {
	var r *engine.Reader = v.Recall()
	list, err := r.Segments(ctx, id)
	if err != nil || len(list.Segments) == 0 {
		return list, engine.Leaves{}, err
	}
	var first engine.Leaf = list.Segments[0]
	leaves, err := r.Leaves(ctx, id, first.Ref)
	return list, leaves, err
}

// Add is a tool of a model.
var Add = functions.New("add", "Adds numbers.", func(_ context.Context, in struct{ A, B int }) (int, error) {
	return in.A + in.B, nil
})
`

// TestAnOutsideProgramNamesWhatItNeeds compiles a module that only may import what is public.
func TestAnOutsideProgramNamesWhatItNeeds(t *testing.T) {
	t.Parallel()
	repo, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	read := func(name string) string {
		raw, err := os.ReadFile(filepath.Join(repo, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	mod := regexp.MustCompile(`(?m)^module .*$`).ReplaceAllString(read("go.mod"), "module example.com/outside")
	mod += "\nrequire github.com/scrollback-ai/scrollback v0.0.0\n\nreplace github.com/scrollback-ai/scrollback => " + repo + "\n"
	for name, text := range map[string]string{"go.mod": mod, "go.sum": read("go.sum"), "outside.go": outside} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := func() (string, error) {
		cmd := exec.CommandContext(t.Context(), "go", "build", "-mod=mod", "./...")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOPROXY=off")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := build(); err != nil {
		t.Fatalf("it does not compile: %v\n%s", err, out)
	}
	inner := strings.Replace(outside, `	"github.com/scrollback-ai/scrollback/token"`,
		`	_ "github.com/scrollback-ai/scrollback/internal/clip"`+"\n"+`	"github.com/scrollback-ai/scrollback/token"`, 1)
	if err := os.WriteFile(filepath.Join(dir, "outside.go"), []byte(inner), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := build(); err == nil || !strings.Contains(out, "internal package") {
		t.Errorf("a room that is internal can be imported: %v\n%s", err, out)
	}
}
