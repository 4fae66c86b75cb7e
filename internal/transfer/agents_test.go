package transfer_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/all"
)

// golden are files that the real programs wrote, where they are there.
const golden = "../../../shared/agents"

// placesOf returns the topmost folders below root in which a tool has sessions.
func placesOf(t *testing.T, tool transcript.Tool, root string) (out []transfer.Session) {
	ctx := context.Background()
	err := filepath.WalkDir(root, func(dir string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		place := transcript.Place{FS: os.DirFS(dir), Name: ".", Path: dir, Now: 4e12}
		found := false
		for s, err := range tool.Sessions(ctx, place) {
			if err == nil && s.Bad == "" {
				found = true
				out = append(out, transfer.Session{Tool: tool, Place: place, Session: s})
			}
		}
		if found {
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What the real programs wrote comes in, in any order and again, and is the same each time.
func TestBringWhatRealProgramsWrote(t *testing.T) {
	root, err := filepath.Abs(golden)
	if err == nil {
		_, err = os.Stat(root)
	}
	if err != nil {
		t.Skip("the files of the real programs are not here: ", err)
	}
	ctx := context.Background()
	for _, tool := range all.Tools() {
		sessions := placesOf(t, tool, root)
		if len(sessions) == 0 {
			t.Logf("%s: nothing", tool.Name())
			continue
		}
		t.Run(tool.Name(), func(t *testing.T) {
			var logs [2]map[string]string
			for turn := range 2 {
				r := enginetest.New(t, enginetest.Options{NoFolds: true, NoTitleCalls: true}, modeltest.Say("x"))
				h := &home{Rig: r}
				var messages, created int
				for range 2 {
					again := created > 0
					for _, s := range sessions {
						out, err := r.Transfer.ImportSession(ctx, r.View, s, transfer.ImportRequest{})
						if err != nil {
							t.Fatalf("%s: %v", s.Session.Name, err)
						}
						for _, c := range out.Conversations {
							if messages += int(c.Messages); c.Created {
								created++
							}
							if again && (c.Messages > 0 || c.Created) {
								t.Errorf("%s again: %+v", s.Session.Name, c)
							}
						}
					}
				}
				origins, err := r.Transfer.Origins(ctx, r.View, transfer.OriginQuery{Limit: 10_000})
				if err != nil || created == 0 || len(origins) < created {
					t.Fatalf("%d conversations, %d origins, %v", created, len(origins), err)
				}
				logs[turn] = map[string]string{}
				var shared, forks, agents int
				for _, o := range origins {
					path, _ := h.says(o.Conversation)
					c, err := r.Get(ctx, o.Conversation)
					if err != nil {
						t.Fatal(err)
					}
					if logs[turn][o.ID] = path; o.Shared {
						shared++
						delete(logs[turn], o.ID) // it says what the other one says
					} else if c.Parent != nil {
						forks++
					} else if c.AgentOf != nil {
						agents++
					}
				}
				t.Logf("%d sessions: %d conversations (%d forks, %d sub-agents), %d shared, %d messages", len(sessions), created,
					forks, agents, shared, messages)
				slices.Reverse(sessions)
			}
			for id, path := range logs[0] {
				if other, known := logs[1][id]; known && other != path && !strings.HasPrefix(other, path) &&
					!strings.HasPrefix(path, other) {
					t.Errorf("%s says %d bytes or, in the other order, %d", id, len(path), len(other))
				}
			}
		})
	}
}

// A copy of a session without the folder of its long outputs says no more than what is here.
func TestCopyWithoutItsOutputs(t *testing.T) {
	ctx := context.Background()
	const from = "../../transcript/claudecode/testdata/agents"
	i := slices.IndexFunc(all.Tools(), func(tool transcript.Tool) bool { return tool.Name() == "claude-code" })
	tool := all.Tools()[i]
	r := enginetest.New(t, enginetest.Options{Limit: 1_000_000, NoFolds: true}, modeltest.Say("x"))
	brings := func(without string) (new int64, gone int) {
		t.Helper()
		root := t.TempDir()
		project := filepath.Join(root, "projects", "-w")
		if err := os.CopyFS(project, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
		if without != "" {
			found, err := filepath.Glob(filepath.Join(project, without))
			if err != nil || len(found) != 1 {
				t.Fatalf("%q is %v, %v", without, found, err)
			}
			if err := os.RemoveAll(found[0]); err != nil {
				t.Fatal(err)
			}
		}
		for _, s := range placesOf(t, tool, root) {
			out, err := r.Transfer.ImportSession(ctx, r.View, s, transfer.ImportRequest{})
			if err != nil {
				t.Fatal(err)
			}
			new += count(out)
			gone = gone + out.Left["output_gone"]
		}
		return new, gone
	}
	if n, gone := brings(""); n == 0 || gone != 0 {
		t.Fatalf("the whole of it: %d new messages, %d outputs are gone", n, gone)
	}
	if n, gone := brings("*/tool-results"); n != 0 || gone == 0 {
		t.Errorf("a copy without its outputs: %d new messages, %d outputs are gone", n, gone)
	}
}
