package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// stand is where a store of one conversation stands: its version, and what its current path says.
type stand struct {
	id, said string
	version  int64
}

// standingOf imports files of testdata/reports one after another, and says where that leads.
func standingOf(t *testing.T, root, data string, paths ...string) stand {
	t.Helper()
	ask := func(out any, args ...string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if code := runProgram(context.Background(), append([]string{"--data", data}, args...), strings.NewReader(""), &stdout,
			&stderr); code != 0 {
			t.Fatalf("scrollback %s: exit %d\n%s%s", strings.Join(args, " "), code, stdout.String(), stderr.String())
		}
		if out != nil {
			if err := json.Unmarshal(stdout.Bytes(), out); err != nil {
				t.Fatalf("scrollback %s: %v\n%s", strings.Join(args, " "), err, stdout.String())
			}
		}
	}
	for _, p := range paths {
		ask(nil, "import", filepath.Join(root, p))
	}
	var page struct {
		Conversations []struct {
			ID      string
			Version int64
		}
	}
	if ask(&page, "list", "--json"); len(page.Conversations) != 1 {
		t.Fatalf("%v: %d conversations", paths, len(page.Conversations))
	}
	c := page.Conversations[0]
	var stdout, stderr bytes.Buffer
	if code := runProgram(context.Background(), []string{"--data", data, "show", c.ID}, strings.NewReader(""), &stdout,
		&stderr); code != 0 {
		t.Fatalf("show: exit %d: %s", code, stderr.String())
	}
	var said []string
	for line := range strings.Lines(stdout.String()) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			said = append(said, line)
		}
	}
	return stand{c.ID, strings.Join(said, " / "), c.Version}
}

// settled returns the reports' files as they were left long ago.
func settled(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS("testdata/reports")); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-2 * time.Hour)
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			err = os.Chtimes(path, old, old)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// Copies of one conversation lead to the same place in any order, and again to the same version.
func TestCopies(t *testing.T) {
	testlength.SkipShort(t)
	root := settled(t)
	const claude = "10-sync-conflict/projects/-home-me-harbour/ca000000-0000-4000-8000-000000000010"
	for name, c := range map[string]struct {
		paths []string // in every order but where fixed
		fixed bool
		want  string
	}{
		"an older prefix": {
			paths: []string{claude + ".jsonl", claude + ".sync-conflict-20260303-101500-ABCDEFG.jsonl"},
			want:  "Which rope for the bow? / The 40 mm one. / And the stern? / The same.",
		},
		"both went on": {
			paths: []string{"04-same-id-two-folders/copy/projects/-home-me-a",
				"04-same-id-two-folders/copy/projects/-home-me-b"},
			want: "Plan the quay wall. / First the piles. / Then? / Then the capping beam. / " +
				"In folder B: how long does it take? / B: nine months.",
		},
		"both went on, in files of Gemini CLI": {
			paths: []string{"22-gemini-two-files-both/tmp/harbour/chats/session-2026-06-22T13-46-f74ed4b6.jsonl",
				"22-gemini-two-files-both/tmp/harbour/chats/session-2026-06-22T13-49-f74ed4b6.jsonl"},
			want: "Check the dredger. / The dredger is leaking. / Sell the dredger. / Sold for scrap.",
		},
		"an older export of ChatGPT": {
			paths: []string{"35-chatgpt-older-after-newer/new/conversations.json",
				"35-chatgpt-older-after-newer/old/conversations.json"},
			want: "When does it sail? / At eight. / And back? / At six.",
		},
		"a rewritten rollout": {
			paths: []string{"11-codex-rewritten/before", "11-codex-rewritten/sessions"}, fixed: true,
			want: "Design the lock gates. / Of what wood? / They must be of oak. / Oak it is, 12 cm thick. / What is left to do? / The hinges.",
		},
		"a rewritten rollout alone": {
			paths: []string{"11-codex-rewritten/sessions"},
			want:  "Design the lock gates. / They must be of oak. / What is left to do? / The hinges.",
		},
		"answers without parents": {
			paths: []string{"72-open-webui-db/webui.db"},
			want:  "How deep is the dock? / Eight metres. / How long? / Ninety metres.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			orders := [][]string{c.paths}
			if len(c.paths) == 2 && !c.fixed {
				orders = append(orders, []string{c.paths[1], c.paths[0]})
			}
			for _, order := range orders {
				data := t.TempDir()
				first := standingOf(t, root, data, order...)
				if first.said != c.want {
					t.Errorf("%v:\n got %s\nwant %s", order, first.said, c.want)
				}
				for range 2 {
					if again := standingOf(t, root, data, order...); again != first {
						t.Errorf("%v again:\n got %+v\nwant %+v", order, again, first)
					}
				}
			}
		})
	}
}
