package codex_test

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
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/codex"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

// standIn answers like the API of the tool's model, and keeps what it was asked.
type standIn struct {
	mu    sync.Mutex
	asked [][]byte
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if r.Method != http.MethodPost {
		_, _ = io.WriteString(w, `{"data":[],"models":[]}`)
		return
	}
	s.mu.Lock()
	s.asked = append(s.asked, body)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	const item = `{"type":"message","role":"assistant","id":"msg_stand_in","status":"completed",` +
		`"content":[{"type":"output_text","text":"It goes on.","annotations":[]}]}`
	for _, e := range [][2]string{
		{"response.created", `"response":{"id":"resp_1"}`},
		{"response.output_item.done", `"output_index":0,"item":` + item},
		{"response.completed", `"response":{"id":"resp_1","usage":{"input_tokens":50,"output_tokens":4,"total_tokens":54}}`},
	} {
		_, _ = fmt.Fprintf(w, "event: %s\ndata: {\"type\":%q,%s}\n\n", e[0], e[0], e[1])
	}
}

// goOn continues a thread in the real program, and returns what its model was sent and the
// home of the program.
func goOn(t *testing.T, c scrollback.Conversation, list []transcript.Entry) (sent []json.RawMessage, home string) {
	t.Helper()
	program := os.Getenv("SCROLLBACK_CODEX")
	if program == "" {
		t.Skip("SCROLLBACK_CODEX does not name the program: npm install @openai/codex, and give the path of node_modules/.bin/codex")
	}
	home = t.TempDir()
	if err := os.CopyFS(home, rollout(t, c, list)); err != nil {
		t.Fatal(err)
	}
	model := &standIn{}
	server := httptest.NewServer(model)
	defer server.Close()
	config := fmt.Sprintf("model = \"stand-in\"\nmodel_provider = \"here\"\n[model_providers.here]\nname = \"here\"\nbase_url = %q\n"+
		"wire_api = \"responses\"\nenv_key = \"HERE_KEY\"\n", server.URL+"/v1")
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "exec", "--skip-git-repo-check", "resume", string(c.ID), "go on")
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"HOME=" + home, "CODEX_HOME=" + home, "HERE_KEY=none",
		"PATH=" + filepath.Dir(program) + ":" + os.Getenv("PATH")}
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("It goes on.")) {
		t.Fatalf("%v: %s", err, out)
	}
	var request struct{ Input []json.RawMessage }
	if err := json.Unmarshal(model.asked[len(model.asked)-1], &request); err != nil {
		t.Fatal(err)
	}
	return request.Input, home
}

// short returns what an item that was sent says, but for what the program itself puts in.
func short(raw json.RawMessage) string {
	var v struct {
		Type, Role, Name, Output, Arguments string
		CallID                              string `json:"call_id"`
		Content                             []struct {
			Type, Text string
			Image      string `json:"image_url"`
		}
	}
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	out := []string{v.Type, v.Role}
	for _, c := range v.Content {
		out = append(out, c.Text, c.Image[:min(len(c.Image), 30)])
	}
	return strings.Join(strings.Fields(strings.Join(append(out, v.Name, v.Arguments, v.CallID, v.Output), " ")), " ")
}

// What is exported arrives whole at the model of the real program, in its order; and what
// that writes behind it comes back with the rest.
func TestProgram(t *testing.T) {
	c, list := everything(t)
	sent, home := goOn(t, c, list)
	var got []string
	for _, raw := range sent {
		line := short(raw)
		if own := strings.HasPrefix(line, "message developer") && !strings.Contains(line, "verse"); !own &&
			!strings.Contains(line, "<cwd>") {
			got = append(got, line)
		}
	}
	want := []string{
		"message user Look at <this> & that <image name=[a b.png]> data:image/png;base64,iVBORw0K </image>",
		"message assistant I look.", `function_call read_file {"path":"x"} c1`, "function_call shed_list {} c2",
		"function_call_output c1 no such file", "function_call_output c2 a rake", "message assistant I was say",
		"message user <environment_context>mine</environment_context>", "message developer From now on in verse",
		"message assistant One", "message assistant three", "function_call a {} c3", "function_call b_c {} c4",
		"function_call_output c3 A", "function_call_output c4 B", "message assistant Twice", "message assistant in a row",
		"message user a b", "message user go on",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
	_, back := thread(tooltest.ReadEntries(t, codex.Tool{}, os.DirFS(home)))
	if len(back) != len(list)+2 {
		t.Fatalf("%d messages come back of %d and two: %q", len(back), len(list), tooltest.ScriptLines(back))
	}
	if diff := cmp.Diff(said(t, list), said(t, back[:len(list)])); diff != "" {
		t.Errorf("what comes back (-want +got):\n%s", diff)
	}
	if behind := tooltest.ScriptLines(back[len(list):]); strings.Join(behind,
		";") != "user | go on;assistant | It goes on." {
		t.Errorf("behind it: %q", behind)
	}
}

// Of a conversation that the tool compacted its model is sent what a person said before, the
// summary, and what follows.
func TestProgramSummary(t *testing.T) {
	c, list := thread(tooltest.ReadEntries(t, codex.Tool{}, os.DirFS("testdata/talk")))
	c.Meta = nil // it names a provider that is not here
	sent, _ := goOn(t, c, list)
	var all []string
	for _, raw := range sent {
		all = append(all, short(raw))
	}
	text := strings.Join(all, "\n")
	for _, want := range []string{"How many roses are there?", "Its summary: Roses: 40.", "Thanks", "You are welcome."} {
		if !strings.Contains(text, want) {
			t.Errorf("%q was not sent, in\n%s", want, text)
		}
	}
	if strings.Contains(text, "I count them.") {
		t.Errorf("an answer from before the summary was sent, in\n%s", text)
	}
}
