package main

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// employer returns a server whose model gives each question that begins with "please" to two
// sub-agents, if it may, and answers everything else itself. One that is told to wait
// answers when the gate opens.
func employer(t *testing.T, gate chan struct{}) []string {
	t.Helper()
	s := &modeltest.Server{Model: modeltest.NewScript(model.Facts{},
		modeltest.Step{Reply: func(r model.Request) []model.Delta {
			last := r.Items[len(r.Items)-1]
			may := false
			for _, tool := range r.Tools {
				may = may || tool.Name == "agent"
			}
			call := func(id, args string) model.Delta {
				return model.Delta{Call: &scrollback.ToolCall{ID: id, Name: "agent", Arguments: json.RawMessage(args)}}
			}
			switch text := last.Parts.Text(); {
			case last.Role == scrollback.RoleTool:
				return []model.Delta{{Text: "Both are done."}}
			case strings.HasPrefix(text, "please wait") && may:
				return []model.Delta{call("w", `{"task":"sleep on it"}`)}
			case strings.HasPrefix(text, "please") && may:
				return []model.Delta{call("a", `{"task":"paint the fence","title":"Fence"}`), call("b", `{"task":"mow the lawn"}`)}
			case text == "sleep on it":
				<-gate
			}
			return []model.Delta{{Text: "I did it: " + last.Parts.Text()}}
		}})}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	return []string{"SCROLLBACK_BASE_URL=" + srv.URL, "SCROLLBACK_MODEL=custom/m", "SCROLLBACK_LIMIT=16000"}
}

// With --agents the model starts sub-agents, which stand below their conversation in the
// list; without it, it answers alone.
func TestRunWithAgents(t *testing.T) {
	t.Parallel()
	env := employer(t, nil)
	data := t.TempDir()
	ask := func(args ...string) (string, string) {
		t.Helper()
		cmd := command(t, data, env, args...)
		var notes strings.Builder
		cmd.Stderr = &notes
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, notes.String())
		}
		return string(out), notes.String()
	}
	if out, _ := ask("run", "please do the garden"); !strings.Contains(out, "I did it: please do the garden") {
		t.Errorf("without --agents it says %q", out)
	}
	out, notes := ask("run", "--agents", "please do the garden")
	if !strings.Contains(out, "Both are done.") || !strings.Contains(notes, `→ agent {"task":"paint the fence"`) ||
		strings.Count(notes, "← agent ") != 2 {
		t.Errorf("with --agents it says %q, and notes %q", out, notes)
	}
	list, _ := ask("list")
	below := `\n +[0-9a-f-]{36} .*└ (Fence|mow the lawn)`
	if !regexp.MustCompile(`(?m)^1 .*please do the garden` + below + below + `\n2 `).MatchString(list) {
		t.Errorf("the list is\n%s", list)
	}
	if out, notes = ask("chat", "--agents", "--resume", "2"); out != "" {
		t.Errorf("a chat without input says %q, %q", out, notes)
	}
	if _, notes = ask("run", "--conversation", "latest", "--agents", "please again"); strings.Count(notes,
		"← agent ") != 2 {
		t.Errorf("a conversation that goes on notes %q", notes)
	}
	var listed struct{ Conversations, Agents []scrollback.Conversation }
	raw, _ := ask("list", "--json")
	if err := json.Unmarshal([]byte(raw), &listed); err != nil || len(listed.Conversations) != 2 ||
		len(listed.Agents) != 4 || listed.Agents[0].AgentOf == nil {
		t.Errorf("as JSON the list is %s, %v", raw, err)
	}
}

// A server refuses conversations with sub-agents unless it was told to allow them, by the
// flag or in the config file, with their bounds.
func TestServeWithAgents(t *testing.T) {
	t.Parallel()
	env := employer(t, nil)
	data := t.TempDir()
	wants := `{"settings":{"agents":true}}`
	s := serve(t, data, env)
	if status := s.do("POST", "/api/conversations", strings.NewReader(wants), nil); status != 403 {
		t.Errorf("without --agents it returns %d", status)
	}
	s.stop()
	config := filepath.Join(t.TempDir(), "config.toml")
	write(t, config, []byte("[agents]\nallowed = true\nper_turn = 1\n"))
	s = serve(t, data, env, "--config", config)
	var c scrollback.Conversation
	if status := s.do("POST", "/api/conversations", strings.NewReader(wants), &c); status != 201 || !c.Settings.Agents {
		t.Fatalf("where they are allowed it returns %d, %+v", status, c)
	}
	s.chat(c.ID, "please do the garden")
	found := get[struct{ Conversations []scrollback.Conversation }](s, "/api/conversations", "agent_of",
		string(c.ID)).Conversations
	if len(found) != 1 || found[0].AgentOf == nil || found[0].AgentOf.ID != c.ID {
		t.Errorf("its sub-agents are %+v", found)
	}
	results := 0
	for _, m := range s.log(c.ID) {
		for _, r := range m.Parts.Results() {
			results++
			if r.IsError != strings.Contains(r.Text, "at most 1 sub-agents") {
				t.Errorf("a result is %+v", r)
			}
		}
	}
	if results != 2 {
		t.Errorf("%d results", results)
	}
}

// Ctrl-C ends the turn and that of its sub-agent; both are kept as interrupted.
func TestRunWithAgentsInterrupted(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	env := employer(t, gate)
	data := t.TempDir()
	defer close(gate)
	cmd := command(t, data, env, "run", "--agents", "please wait for it")
	var notes strings.Builder
	cmd.Stderr = &notes
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var of, child string
	until(t, 30*time.Second, func() bool {
		var listed struct{ Conversations, Agents []scrollback.Conversation }
		out := output(t, data, "list", "--json")
		if json.Unmarshal([]byte(out), &listed) != nil || len(listed.Agents) == 0 || listed.Agents[0].Messages == 0 {
			return false
		}
		of = string(listed.Conversations[0].ID)
		child = string(listed.Agents[0].ID)
		return true
	})
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // its exit code is that of an interrupted turn
	for _, id := range []string{of, child} {
		var page scrollback.MessagePage
		out := output(t, data, "show", id, "--json")
		if err := json.Unmarshal([]byte(out), &page); err != nil {
			t.Fatal(err)
		}
		last := page.Messages[len(page.Messages)-1]
		stopped := last.Status == scrollback.StatusInterrupted
		for _, turn := range page.Turns {
			stopped = stopped || turn.State == scrollback.TurnInterrupted
		}
		if !stopped || page.Running != nil {
			t.Errorf("conversation %s shows %s", id, out)
		}
	}
}
