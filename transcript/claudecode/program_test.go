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
	"github.com/scrollback-ai/scrollback/transcript/claudecode"
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
		t.Skip("SCROLLBACK_CLAUDE_CODE does not name the program: npm install @anthropic-ai/claude-code node, and give the path of node_modules/.bin/claude")
	}
	home, work := t.TempDir(), t.TempDir()
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
	cmd.Env = []string{"HOME=" + home, "CLAUDE_CONFIG_DIR=" + filepath.Join(home, ".claude"), "ANTHROPIC_BASE_URL=" + server.URL, "ANTHROPIC_API_KEY=dummy",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "PATH=" + filepath.Dir(program) + ":" + os.Getenv("PATH")}
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

func TestProgram(t *testing.T) {
	c, entries := talk()
	file := export(t, c, entries)
	sent, _ := goOn(t, c, file)
	t.Log(sent)
}

// export writes a conversation.
func export(t *testing.T, c scrollback.Conversation, entries []transcript.Entry) []byte {
	t.Helper()
	var b bytes.Buffer
	err := claudecode.Format{}.Write(&b, c, func(yield func(transcript.Entry, error) bool) {
		for _, e := range entries {
			if !yield(e, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// dot is a PNG of one pixel.
var dot = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89" +
	"\x00\x00\x00\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\x89\x99=\x1d\x00\x00\x00\x00IEND\xaeB`\x82")

// talk is a conversation with all that can be written.
func talk() (scrollback.Conversation, []transcript.Entry) {
	c := scrollback.Conversation{ID: "01a1fb8d-0000-7000-8000-00000000000c", Title: "The harbour", Roots: []string{"/home/u/harbour"}, CreatedAt: 1767225600000}
	n := 0
	add := func(role scrollback.Role, parts ...scrollback.Part) scrollback.Message {
		n++
		return scrollback.Message{ID: scrollback.MessageID(fmt.Sprintf("01a1fb8d-0000-7000-9000-%012d", n)), Role: role, Parts: parts, CreatedAt: 1767225600000 + int64(n)*1000}
	}
	text := func(s string) scrollback.Part { return scrollback.Text{Text: s} }
	call := func(id, name, args string) scrollback.Part {
		return scrollback.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(args)}
	}
	result := func(id, name, out string) scrollback.Part {
		return scrollback.ToolResult{CallID: id, Name: name, Text: out}
	}
	model := func(m scrollback.Message, name string) scrollback.Message { m.Model = name; return m }
	stopped := func(m scrollback.Message) scrollback.Message {
		m.Status = scrollback.StatusInterrupted
		return m
	}
	entries := []transcript.Entry{
		{Message: add(scrollback.RoleSystem, text("Be brief about ships."))},
		{Message: add(scrollback.RoleUser, text("Which ships are in the harbour? 港口"))},
		{Message: model(add(scrollback.RoleAssistant, scrollback.Reasoning{Text: "I must look."}, text("I look at both piers."),
			call("call_1", "ls", `{"path":"/north"}`), call("call_1b", "ls", `["/south"]`)), "gpt-5")},
		{Message: add(scrollback.RoleTool, result("call_1", "ls", "Anna\nBerta"))},
		{Message: add(scrollback.RoleTool, scrollback.ToolResult{CallID: "call_1b", Name: "ls", Text: "no such pier", IsError: true})},
		{Message: model(add(scrollback.RoleAssistant, scrollback.Reasoning{Text: "Signed thought.", Opaque: json.RawMessage(`{"signature":"c2ln"}`)},
			text("Anna and Berta.")), "claude-sonnet-4-5")},
		{Message: add(scrollback.RoleUser, text("What is on this picture?"), scrollback.Image{MediaType: "image/png", Name: "dot.png"}), Bytes: map[int][]byte{1: dot}},
		{Message: stopped(model(add(scrollback.RoleAssistant, text("It is a do")), "gpt-5"))},
		{Message: add(scrollback.RoleUser, text("Never mind. Shoot one."))},
		{Message: model(add(scrollback.RoleAssistant, call("call_1", "shot.take", `{}`)), "gpt-5")},
		{Message: add(scrollback.RoleTool, result("call_1", "shot.take", "one picture"), scrollback.Image{MediaType: "image/png"}), Bytes: map[int][]byte{1: dot}},
		{Message: stopped(model(add(scrollback.RoleAssistant, text("Now I wait."), call("call_9", "wait", `{"s":1}`)), "gpt-5"))},
		{Message: add(scrollback.RoleUser, text("<command-name>/odd</command-name> is a text of mine"))},
		{Message: model(add(scrollback.RoleAssistant, text("So it is.")), "")},
		{Message: add(scrollback.RoleUser, text("Read this."), scrollback.File{MediaType: "text/plain", Name: "list.txt"}), Bytes: map[int][]byte{1: []byte("Clara")}},
		{Message: model(add(scrollback.RoleAssistant, call("call_2", "cat", `{"n":1}`)), "gpt-5")},
		{Message: add(scrollback.RoleTool, result("call_2", "cat", strings.Repeat("long line 长 ", 20_000)))},
		{Message: model(add(scrollback.RoleAssistant, text("That was long.")), "gpt-5")},
	}
	return c, entries
}
