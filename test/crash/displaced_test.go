//go:build unix

package crash_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// The database is deleted while chats go on: they end with a sentence that says so, and
// every message that was acknowledged is in what was rescued.
func TestDeletedWhileChatting(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]func(data string) error{
		"file": func(data string) error { return os.Remove(filepath.Join(data, "scrollback.db")) },
		"folder": func(data string) error {
			err := os.RemoveAll(data)
			if errors.Is(err, syscall.ENOTEMPTY) { // the copy of what was open is there already
				return nil
			}
			return err
		},
		"another in its place": func(data string) error {
			for _, part := range []string{"", "-wal", "-shm"} {
				if err := os.Remove(filepath.Join(data, "scrollback.db"+part)); err != nil {
					return err
				}
			}
			return command(t, data, nil, "run", "hello").Run()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := filepath.Join(t.TempDir(), "data")
			s := serve(t, data, nil)
			p := &promises{messages: map[scrollback.ConversationID]map[scrollback.MessageID]bool{},
				length: map[scrollback.ConversationID]int64{}, acts: map[string]int{}}
			var clients sync.WaitGroup
			for n := range uint64(3) {
				clients.Go(func() { (&client{url: s.url, p: p, rng: rand.New(rand.NewPCG(n, 1))}).work() })
			}
			acknowledged := func() (n int) {
				p.mu.Lock()
				defer p.mu.Unlock()
				for _, of := range p.messages {
					n += len(of)
				}
				return n
			}
			until(t, 60*time.Second, func() bool { return acknowledged() > 20 })
			if err := away(data); err != nil {
				t.Fatal(err)
			}
			clients.Wait()
			var refused struct {
				Error struct{ Code, Message string }
			}
			if status := s.do(http.MethodPost, "/api/conversations", map[string]any{},
				&refused); status != http.StatusServiceUnavailable ||
				refused.Error.Code != "unavailable" || !strings.Contains(refused.Error.Message, "deleted, replaced") {
				t.Errorf("%d %+v", status, refused)
			}
			until(t, 20*time.Second, func() bool {
				return s.do(http.MethodGet, "/readyz", nil, nil) == http.StatusServiceUnavailable
			})
			if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			if err := s.cmd.Wait(); err != nil {
				t.Errorf("the server ended with %v", err)
			}
			inRescue(t, data, p)
		})
	}
}

// inRescue looks for every acknowledged message in the one copy of a database.
func inRescue(t *testing.T, data string, p *promises) {
	t.Helper()
	var found []string
	for _, in := range []string{filepath.Join(data, "rescue"), data + "-rescue"} {
		at, err := filepath.Glob(filepath.Join(in, "*", "scrollback.db"))
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, at...)
	}
	if len(found) != 1 {
		t.Fatalf("rescued: %q", found)
	}
	rescue := serve(t, filepath.Dir(found[0]), nil)
	for id, messages := range p.messages {
		there := map[scrollback.MessageID]bool{}
		for _, b := range get[struct{ Branches []scrollback.Branch }](rescue,
			fmt.Sprintf("/api/conversations/%s/branches", id)).Branches {
			page := get[scrollback.MessagePage](rescue, fmt.Sprintf("/api/conversations/%s/messages", id), "branch",
				string(b.ID), "limit", "200")
			for _, m := range page.Messages {
				there[m.ID] = true
			}
		}
		for m := range messages {
			if !there[m] {
				t.Errorf("%s of %s was acknowledged and is lost", m, id)
			}
		}
	}
	if out := output(t, filepath.Dir(found[0]), "doctor"); !strings.Contains(out, "All is well") {
		t.Errorf("what was rescued: %s", out)
	}
}

// A first start that is killed leaves nothing that the next takes for anything else.
func TestKilledFirstStarts(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	rng := rand.New(rand.NewPCG(7, 7))
	for n := range testlength.Choose(7, 7, 15) {
		if err := os.RemoveAll(data); err != nil {
			t.Fatal(err)
		}
		cmd := command(t, data, nil, "run", "hello")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if n%2 == 0 { // as soon as it makes the database
			until(t, 30*time.Second, func() bool {
				made, err := filepath.Glob(filepath.Join(data, "scrollback.db*"))
				return err != nil || len(made) > 0
			})
		} else {
			<-time.After(time.Duration(rng.IntN(250)) * time.Millisecond)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		said, err := command(t, data, nil, "doctor").CombinedOutput()
		if err != nil && !strings.Contains(string(said), "there is no database") &&
			!strings.Contains(string(said), "there is nothing") {
			t.Errorf("start %d, doctor: %s", n, said)
		}
		if said, err := command(t, data, nil, "run", "hello").CombinedOutput(); err != nil {
			t.Errorf("start %d: %v %s", n, err, said)
		}
		if left, err := filepath.Glob(filepath.Join(data, "*.new*")); err != nil || len(left) > 0 {
			t.Errorf("start %d left %q", n, left)
		}
	}
}

// Reading needs no folder that can be written; what changes something says that it cannot.
func TestFolderThatMayOnlyBeRead(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	data := filepath.Join(base, "data")
	output(t, data, "run", "the key is under the bollard")
	crashed := serve(t, data, nil)
	crashed.chat(crashed.conversation(), "what a server wrote that was killed: lighthouse")
	crashed.kill()
	bare := asReader(t, base, data)
	for line, want := range map[string]string{
		"list": "the key is under the bollard", "show latest --json": "lighthouse", "search lighthouse": "lighthouse",
		"context latest":                    "free",
		"export latest --format jsonl -o -": "lighthouse",
		"doctor":                            "All is well", "usage": "offline",
		"context grep latest lighthouse": "lighthouse",
		"rename latest other":            "can only be read", "run hello": "may only be read",
		"serve --addr 127.0.0.1:0": "may only be read",
	} {
		out, err := bare(strings.Fields(line)...).CombinedOutput()
		if fails := strings.Contains(want, "only be read"); (err != nil) != fails || !bytes.Contains(out, []byte(want)) {
			t.Errorf("%s: %v %s", line, err, out)
		}
	}
}

// asReader takes away the right to write to a folder, and returns the program as somebody
// who has none: root may write anywhere, so that there it runs as nobody.
func asReader(t *testing.T, base, data string) func(args ...string) *exec.Cmd {
	t.Helper()
	exe := command(t, data, nil).Path
	if os.Geteuid() == 0 {
		content, err := os.ReadFile(exe)
		if err != nil {
			t.Fatal(err)
		}
		exe = filepath.Join(base, "program")
		if err := os.WriteFile(exe, content, 0o755); err != nil {
			t.Fatal(err)
		}
		for dir := base; dir != filepath.Dir(os.TempDir()) && dir != os.TempDir(); dir = filepath.Dir(dir) {
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	chmod := func(dir, file os.FileMode) {
		err := filepath.WalkDir(data, func(path string, d os.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				return os.Chmod(path, dir)
			}
			if err == nil {
				return os.Chmod(path, file)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	chmod(0o555, 0o444)
	t.Cleanup(func() { chmod(0o755, 0o644) })
	return func(args ...string) *exec.Cmd {
		cmd := command(t, data, nil, args...)
		cmd.Path = exe
		cmd.Dir = base
		if os.Geteuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		return cmd
	}
}
