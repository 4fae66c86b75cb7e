package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// replace writes a whole file in place of another at once.
func replace(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// What a prompt on the command line refers to is stored with it; what cannot be read is
// said at once, in the person's language, and the answer comes all the same.
func TestRunRefers(t *testing.T) {
	data := t.TempDir()
	root := t.TempDir()
	replace(t, filepath.Join(root, "notes.md"), "The key hangs in the shed.\n")
	ask := func(env []string, args ...string) (string, string) {
		t.Helper()
		var out, notes strings.Builder
		cmd := command(t, data, env, append([]string{"run", "--root", root}, args...)...)
		cmd.Stdout = &out
		cmd.Stderr = &notes
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %s", err, notes.String())
		}
		return out.String(), notes.String()
	}
	_, notes := ask(nil, "What is in @notes.md, @[../secret] and @[gone.md]? Write to me@notes.md.")
	for _, want := range []string{"@[../secret]: refused: outside the roots", "@[gone.md]: not found"} {
		if strings.Count(notes, want) != 1 {
			t.Errorf("%q is not on standard error once:\n%s", want, notes)
		}
	}
	if _, notes = ask([]string{"LANG=zh_CN.UTF-8"}, "看看 @[../secret]"); !strings.Contains(notes, "@[../secret]：已拒绝") {
		t.Errorf("in Chinese:\n%s", notes)
	}
	out, _ := ask(nil, "--json", "And @[notes.md]?")
	var meta scrollback.MetaEvent
	for line := range strings.Lines(out) {
		if strings.Contains(line, `"references"`) {
			if err := json.Unmarshal([]byte(line), &meta); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(meta.References) != 1 || meta.References[0].Source != "notes.md" || meta.References[0].Version != 1 {
		t.Errorf("the events say %+v in\n%s", meta.References, out)
	}
	if shown := output(t, data, "context", "3"); !strings.Contains(shown, "notes.md") ||
		!strings.Contains(shown, "outside the roots") {
		t.Errorf("the window is\n%s", shown)
	}
	if found := output(t, data, "search", "shed"); !strings.Contains(found, "#1 user") {
		t.Errorf("the file is found as\n%s", found)
	}
	output(t, data, "doctor")
}

// Two processes that follow the marks of prompts in one conversation at once never give two
// contents one version, and what they call unchanged is where they say.
func TestTwoProcessesRefer(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	root := t.TempDir()
	file := filepath.Join(root, "a.txt")
	replace(t, file, "content 0")
	granted := []string{"SCROLLBACK_ROOT=" + root}
	a := serve(t, data, granted)
	b := serve(t, data, granted)
	var c scrollback.Conversation
	if status := a.do(http.MethodPost, "/api/conversations", map[string]any{"roots": []string{root}},
		&c); status != http.StatusCreated {
		t.Fatalf("create: %d", status)
	}
	var wg sync.WaitGroup
	for i, s := range []*served{a, b} {
		wg.Go(func() {
			for n := range 20 {
				if n%4 == 3 {
					replace(t, file+fmt.Sprint(i), fmt.Sprintf("content %d of %d", n, i))
					if err := os.Rename(file+fmt.Sprint(i), file); err != nil {
						t.Error(err)
					}
				}
				body := strings.NewReader(`{"message":"see @a.txt","plain_marks":true,"stream":false}`)
				if status := s.do(http.MethodPost, fmt.Sprintf("/api/conversations/%s/chat", c.ID), body,
					nil); status != http.StatusOK &&
					status != http.StatusConflict {
					t.Errorf("a chat ends with %d", status)
				}
			}
		})
	}
	wg.Wait()
	versions := map[int]string{}
	at := map[int64]string{}
	unchanged := 0
	for _, m := range b.log(c.ID) {
		for _, r := range m.Parts.References() {
			if was, known := versions[r.Version]; known && was != r.SHA256 || r.Error != "" {
				t.Errorf("#%d: version %d is %s, and was %s (%s)", m.Seq, r.Version, r.SHA256, was, r.Error)
			}
			versions[r.Version] = r.SHA256
			if r.SameAs == 0 {
				at[m.Seq] = r.SHA256
			} else if unchanged++; at[r.SameAs] != r.SHA256 {
				t.Errorf("#%d is unchanged, and #%d has %q", m.Seq, r.SameAs, at[r.SameAs])
			}
		}
	}
	if len(versions) < 2 || unchanged == 0 {
		t.Errorf("%d versions, %d times unchanged: too few to tell", len(versions), unchanged)
	}
}
