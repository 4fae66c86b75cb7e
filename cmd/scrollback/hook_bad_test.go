package main

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// hookPatience is how long a whole hook may take on a machine that is busy with other tests; what hangs takes longer.
const hookPatience = 10 * time.Second

// runHook runs a hook as agents do, as a program of its own. Its standard input stays open behind what is handed in if
// held says so.
func (h *hooked) runHook(in io.Reader, held bool, env []string, args ...string) (out string) {
	h.Helper()
	ctx, cancel := context.WithTimeout(h.Context(), hookPatience)
	defer cancel()
	exe, err := os.Executable()
	if err != nil {
		h.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, exe, append([]string{"hook"}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout = &stdout
	cmd.Stderr = &stderr
	pipe, err := cmd.StdinPipe()
	if err != nil {
		h.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		h.Fatal(err)
	}
	var wait sync.WaitGroup
	wait.Go(func() {
		_, _ = io.Copy(pipe, in) // it may stop reading
		if !held {
			_ = pipe.Close()
		}
	})
	err = cmd.Wait()
	wait.Wait()
	if err != nil || stderr.Len() > 0 {
		h.Errorf("hook %q ended with %v, and says %q", args, err, stderr.String())
	}
	return stdout.String()
}

// prompts returns what an agent hands in with a prompt that can be answered, in a session of its own.
func (h *hooked) prompts(session string) string {
	return fmt.Sprintf(`{"session_id":%q,"cwd":%q,"prompt":%q}`, session, h.shop, hookPrompt)
}

// zeros is so many bytes of a text.
type zeros struct{ left int }

func (z *zeros) Read(p []byte) (int, error) {
	n := min(len(p), z.left)
	if n == 0 {
		return 0, io.EOF
	}
	for i := range p[:n] {
		p[i] = 'a'
	}
	z.left -= n
	return n, nil
}

// Whatever is handed in, and whatever is asked, a hook ends in time with 0 and nothing but an answer.
func TestHookBadInput(t *testing.T) {
	h := newHooked(t)
	h.watched()
	h.remember()
	prompt := []string{"prompt", "--agent", "codex"}
	if out := h.runHook(strings.NewReader(h.prompts("ok")), true, nil, prompt...); !strings.Contains(out, "2027-03-01") {
		t.Fatalf("a prompt is answered by %q", out)
	}
	good := h.prompts("x")
	for what, in := range map[string]string{
		"nothing": "", "half": good[:len(good)/2], "half a text": good[:len(good)-3], "no JSON": "nonsense", "a list": "[" + good + "]",
		"null": "null", "a text": `"text"`, "deep": strings.Repeat("[", 1<<19), "deep tables": strings.Repeat(`{"a":`, 1<<17),
		"a number that is none": `{"session_id":1e999}`, "bytes": "\x00\xff\xfe{}", "two keys": `{"prompt":{},"prompt":[]}`,
		"lines": strings.Repeat("\n", 1<<19),
	} {
		for _, held := range []bool{true, false} {
			if out := h.runHook(strings.NewReader(in), held, nil, prompt...); out != "" {
				t.Errorf("%s (held: %v) is answered by %q", what, held, out)
			}
		}
	}
	for _, n := range []int{2 << 20, 50 << 20} {
		in := io.MultiReader(strings.NewReader(`{"session_id":"large","cwd":"/","prompt":"`), &zeros{n}, strings.NewReader(`"}`))
		if out := h.runHook(in, false, nil, prompt...); out != "" {
			t.Errorf("%d bytes are answered by %q", n, out)
		}
	}
	for _, args := range [][]string{{"lunch", "--agent", "codex"}, {"prompt", "--agent", "nobody"}, {"prompt"}, {"prompt", "--agent"},
		{"prompt", "--agent", "codex", "--unknown", "x", "y"}, {"stop", "--agent", "nobody"}, {"prompt", "--agent", "vs-code\x01"},
		{"prompt", "--agent", "codex", "--data", "/dev/null/x"}, {"prompt", "--agent", "codex", "--config", "/nowhere"},
		{"prompt", "--agent", "codex", "--config", t.TempDir()}, {"prompt", "--agent", "codex", "--store", "nonsense://x"}} {
		out := h.runHook(strings.NewReader(h.prompts("z"+strings.Join(args, ""))), true, nil, args...)
		if out != "" && !strings.Contains(strings.Join(args, " "), "--unknown") {
			t.Errorf("%q is answered by %q", args, out)
		}
	}
	// A byte order mark, and what stands behind a value, are no reason to be silent.
	for i, in := range []string{"\ufeff" + h.prompts("bom"), h.prompts("more") + "\n{\"more\":", "\n\n " + h.prompts("space")} {
		if out := h.runHook(strings.NewReader(in), true, nil, prompt...); !strings.Contains(out, "2027-03-01") {
			t.Errorf("%d is answered by %q", i, out)
		}
	}
}

// A home or a data folder in which nothing can be done is silence.
func TestHookOddFolders(t *testing.T) {
	h := newHooked(t)
	h.watched()
	h.remember()
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, []byte("x"))
	garbage := t.TempDir()
	write(t, filepath.Join(garbage, "hooks.db"), bytes.Repeat([]byte("garbage "), 4096))
	folders := t.TempDir()
	for _, name := range []string{"hooks.db", "scrollback.db"} {
		if err := os.Mkdir(filepath.Join(folders, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for what, env := range map[string][]string{
		"a file for the home":        {"HOME=" + file, "SCROLLBACK_DATA="},
		"no home":                    {"HOME=", "SCROLLBACK_DATA="},
		"a file for the data":        {"SCROLLBACK_DATA=" + file},
		"a ledger that is damaged":   {"SCROLLBACK_DATA=" + garbage},
		"folders for the databases":  {"SCROLLBACK_DATA=" + folders},
		"a data folder that is long": {"SCROLLBACK_DATA=/" + strings.Repeat("a", 5000)},
	} {
		for _, event := range []string{"session-start", "prompt", "stop"} {
			if out := h.runHook(strings.NewReader(h.prompts(what)), true, env, event, "--agent", "codex"); out != "" {
				t.Errorf("%s, %s: answered by %q", what, event, out)
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(garbage, "hooks.db"))
	if err != nil || !bytes.HasPrefix(text, []byte("garbage ")) {
		t.Errorf("the damaged ledger was changed: %.20q, %v", text, err)
	}
}

// A store that is of an older or a newer program is silence, and stays as it is: hooks bring nothing up to date. One
// whose index is behind, and one that is filled at the same moment, hold no hook up.
func TestHookStoreInBetween(t *testing.T) {
	h := newHooked(t)
	h.watched()
	h.remember()
	file := filepath.Join(h.data, "scrollback.db")
	exec1 := func(query string) {
		t.Helper()
		db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(file))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.ExecContext(t.Context(), query); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	version := func() (v int64) {
		t.Helper()
		db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(file)+"?mode=ro")
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := db.QueryRowContext(t.Context(), "SELECT max(version_id) FROM goose_db_version").Scan(&v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	n := 0
	ask := func() string {
		n++
		return h.runHook(strings.NewReader(h.prompts(fmt.Sprint("between", n))), true, nil, "prompt", "--agent", "codex")
	}
	now := version()
	for _, change := range []string{"DELETE FROM goose_db_version WHERE version_id = (SELECT max(version_id) FROM goose_db_version)",
		fmt.Sprintf("INSERT INTO goose_db_version (version_id, is_applied) VALUES (%d, 1)", now+7)} {
		exec1(change)
		is := version()
		_ = ask()
		if version() != is {
			t.Errorf("a hook changes a store of version %d to %d", is, version())
		}
		exec1(fmt.Sprintf("DELETE FROM goose_db_version WHERE version_id > %d", now))
		if version() < now {
			exec1(fmt.Sprintf("INSERT INTO goose_db_version (version_id, is_applied) VALUES (%d, 1)", now))
		}
	}
	if out := ask(); !strings.Contains(out, "2027-03-01") {
		t.Fatalf("as it was, it is answered by %q", out)
	}
	// While sessions are imported and indexed.
	for i := range 200 {
		h.session(fmt.Sprintf("000000%02x-0001-4000-8000-000000000000", i), h.shop, 90*time.Hour,
			fmt.Sprintf("Where does pilot boat %d lie?", i), strings.Repeat(fmt.Sprintf("Boat %d lies at the north quay. ", i), 400))
	}
	imports := command(t, h.data, nil, "import", "--from", "claude-code")
	if err := imports.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- imports.Wait() }()
	during := 0
	for done := false; !done; {
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
			done = true
		default:
			_ = ask()
			during++
		}
	}
	if during == 0 {
		t.Error("nothing was asked meanwhile")
	}
	if out := ask(); !strings.Contains(out, "2027-03-01") {
		t.Errorf("afterwards it is answered by %q", out)
	}
}

// A disk that is full is silence, and loses nothing.
func TestHookFullDisk(t *testing.T) {
	h := newHooked(t)
	h.watched()
	h.remember()
	disk := fullDisk(t)
	if err := os.CopyFS(filepath.Join(disk, "data"), os.DirFS(h.data)); err != nil {
		t.Fatal(err)
	}
	h.data = filepath.Join(disk, "data")
	t.Setenv("SCROLLBACK_DATA", h.data)
	_ = os.Remove(filepath.Join(h.data, "hooks.db"))
	fill := filepath.Join(disk, "fill")
	f, err := os.Create(fill)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{1 << 20, 4096, 1} {
		for block := bytes.Repeat([]byte("x"), size); err == nil; {
			_, err = f.Write(block)
		}
		err = nil
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for i, event := range []string{"session-start", "prompt", "stop", "pre-compact"} {
		in := strings.NewReader(h.prompts(fmt.Sprint("full", i)))
		if out := h.runHook(in, true, nil, event, "--agent", "codex"); strings.Contains(out, "2027") && event != "prompt" {
			t.Errorf("%s is answered by %q", event, out)
		}
	}
	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	if out := h.runHook(strings.NewReader(h.prompts("room")), true, nil, "prompt", "--agent", "codex"); !strings.Contains(out, "2027-03-01") {
		t.Errorf("with room again it is answered by %q", out)
	}
	if code, out, errs := inside(t, h.data, "doctor"); code != 0 {
		t.Errorf("doctor: %d %s%s", code, out, errs)
	}
}

// In a store of very many conversations, most of which say words of the prompt, a hook answers or is silent in time.
func TestHookManyConversations(t *testing.T) {
	n := testlength.Choose(0, 300, 100_000)
	if n == 0 {
		t.Skip("this is for the longer lengths")
	}
	h := newHooked(t)
	h.watched()
	h.remember()
	for i := range n {
		h.session(fmt.Sprintf("%08x-0002-4000-8000-000000000000", i), h.shop, time.Duration(100+i)*time.Minute,
			fmt.Sprintf("What about the harbour lease of berth %d?", i), fmt.Sprintf("Berth %d has a lease until spring.", i))
	}
	h.imports()
	t.Setenv("SCROLLBACK_HOOK_TIME", "")
	slow := 0
	for i := range 20 {
		began := time.Now()
		_ = h.runHook(strings.NewReader(h.prompts(fmt.Sprint("many", i))), true, nil, "prompt", "--agent", "codex")
		took := time.Since(began)
		t.Logf("%d conversations: %v", n, took)
		if took > 500*time.Millisecond { // the program itself is no slower on a busy machine
			slow++
		}
	}
	if slow > 5 {
		t.Errorf("%d of 20 hooks took more than half a second", slow)
	}
}
