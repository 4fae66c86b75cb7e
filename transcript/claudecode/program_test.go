package claudecode_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

// standIn answers like the API of the tool's model, and keeps what it was asked.
type standIn struct {
	mu    sync.Mutex
	asked []json.RawMessage
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if !strings.HasSuffix(r.URL.Path, "/messages") {
		_, _ = io.WriteString(w, `{"input_tokens":10}`)
		return
	}
	s.mu.Lock()
	s.asked = append(s.asked, body)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range []string{
		`{"type":"message_start","message":{"id":"msg_stand_in","type":"message","role":"assistant","model":"claude-stand-in","content":[],` +
			`"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":5,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"It goes on."}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":4}}`,
		`{"type":"message_stop"}`,
	} {
		kind := regexp.MustCompile(`"type":"(\w+)"`).FindStringSubmatch(e)[1]
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, e)
	}
}

// goOn continues a session in the real program, and returns what its model was sent and
// the folder of its projects.
func goOn(t *testing.T, c scrollback.Conversation, file []byte) (string, string) {
	t.Helper()
	program := os.Getenv("SCROLLBACK_CLAUDE_CODE")
	if program == "" {
		t.Skip("SCROLLBACK_CLAUDE_CODE does not name the program: npm install @anthropic-ai/claude-code node, " +
			"and give the path of node_modules/.bin/claude")
	}
	home := t.TempDir()
	work := t.TempDir()
	if real, err := filepath.EvalSymlinks(work); err == nil {
		work = real
	}
	folder := filepath.Join(home, ".claude", "projects", regexp.MustCompile(`[^a-zA-Z0-9]`).ReplaceAllString(work, "-"))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, string(c.ID)+".jsonl"), file, 0o600); err != nil {
		t.Fatal(err)
	}
	model := &standIn{}
	server := httptest.NewServer(model)
	defer server.Close()
	cmd := exec.CommandContext(t.Context(), program, "-p", "--resume", string(c.ID), "go on")
	cmd.Dir = work
	cmd.Env = []string{"HOME=" + home, "CLAUDE_CONFIG_DIR=" + filepath.Join(home, ".claude"),
		"ANTHROPIC_BASE_URL=" + server.URL, "ANTHROPIC_API_KEY=dummy",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1",
		"PATH=" + filepath.Dir(program) + ":" + os.Getenv("PATH")}
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("It goes on.")) {
		t.Fatalf("%v: %s", err, out)
	}
	var request struct{ Messages json.RawMessage }
	if err := json.Unmarshal(model.asked[len(model.asked)-1], &request); err != nil {
		t.Fatal(err)
	}
	return string(request.Messages), folder
}

// What is exported arrives whole at the model of the real program, and what that writes
// behind it comes back with the rest.
func TestProgram(t *testing.T) {
	c, entries := talk()
	sent, folder := goOn(t, c, export(t, c, entries))
	at := 0
	for _, want := range []string{
		"Which ships are in the harbour? 港口", "I look at both piers.", `{"path":"/north"}`, `{"value":["/south"]}`,
		`Anna\nBerta`,
		"no such pier", `"is_error":true`,
		"Anna and Berta.", "What is on this picture?", `"media_type":"image/png"`, "It is a do", "Never mind. Shoot one.",
		"shot_take",
		"one picture",
		`"media_type":"image/png"`, "Now I wait.", "is a text of mine", "So it is.", "Clara", "long line 长", "bytes left out",
		"That was long.", "go on",
	} {
		i := strings.Index(sent[at:], want)
		if i < 0 {
			t.Fatalf("%q was not sent, or not in its place, in %.20000s", want, sent)
		}
		at += i + len(want)
	}
	got := path(t, os.DirFS(folder), string(c.ID))
	if len(got) != len(entries)+2 {
		t.Fatalf("%d messages come back of %d and two: %q", len(got), len(entries), tooltest.ScriptLines(got))
	}
	compare(t, got[:len(entries)], entries)
	if said := tooltest.ScriptLines(got[len(entries):]); strings.Join(said,
		";") != "user | go on;assistant | It goes on." {
		t.Errorf("behind it: %q", said)
	}
}

// Of a conversation that was compacted the model is sent the summary and what follows.
func TestProgramSummary(t *testing.T) {
	c, entries := talk()
	entries = entries[1:8]
	entries = append(entries, summed(),
		transcript.Entry{Message: scrollback.Message{ID: "01a1fb8d-0000-7000-9000-0000000000f2",
			Role: scrollback.RoleUser, Parts: scrollback.Say("After the summary."), CreatedAt: 1767225700000}})
	sent, folder := goOn(t, c, export(t, c, entries))
	if strings.Contains(sent, "Which ships") || !strings.Contains(sent, "Two ships were seen.") ||
		!strings.Contains(sent, "After the summary.") {
		t.Errorf("sent was %.5000s", sent)
	}
	compare(t, path(t, os.DirFS(folder), string(c.ID))[:len(entries)], entries)
}
