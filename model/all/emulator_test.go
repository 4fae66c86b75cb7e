package all_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/all"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// bases are where the emulator serves each provider's API.
var bases = map[string]string{
	"openai": "/v1", "xai": "/v1", "deepseek": "/v1", "moonshot": "/v1", "dashscope": "/v1", "poe": "/v1",
	"workers-ai": "/v1",
	"custom":     "/v1",
	"lmstudio":   "/v1", "vllm": "/v1", "llama.cpp": "/v1", "ark": "/api/v3", "openrouter": "/api/v1", "anthropic": "",
	"gemini": "",
	"ollama": "",
}

// The clients against an emulator of these APIs that others wrote; .ci/emulator
// starts it. It is lenient: it shows that what it sends is read, and refuses little.
func TestEmulator(t *testing.T) {
	url := os.Getenv("SCROLLBACK_TEST_EMULATOR")
	if url == "" {
		t.Skip("no emulator: run .ci/emulator, which needs npm")
	}
	for _, p := range all.Providers() {
		t.Run(p.Name, func(t *testing.T) {
			m, err := all.FindModel(p.Name+"/test-model",
				env(map[string]string{p.Base: url + bases[p.Name], p.Key: "sk-test", p.Account: "a"}),
				remote.Options{Pause: time.Millisecond, Header: map[string]string{"X-Test-Id": t.Name()}})
			if err != nil {
				t.Fatal(err)
			}
			emulate(t, p.Name, m)
		})
	}
}

func emulate(t *testing.T, provider string, m model.Model) {
	ask := func(words string, items ...scrollback.Item) (modeltest.Answer, error) {
		r := modeltest.ToolRequest()
		r.Items = append([]scrollback.Item{{Kind: scrollback.KindMessage, Role: scrollback.RoleUser,
			Parts: scrollback.Parts{scrollback.Text{Text: words}}}}, items...)
		return modeltest.Read(m.Stream(t.Context(), r))
	}
	if a, err := ask("What is the code?"); err != nil || !strings.Contains(a.Text, "7F3K-221") ||
		a.Finish != scrollback.FinishStop {
		t.Errorf("plain: %q, %q, %v", a.Text, a.Finish, err)
	}
	a, err := ask("think")
	if err != nil || a.Text != "世界 says 42." || a.Reasoning != "They want 世界 and a sum: 17 + 25." && provider != "ollama" {
		t.Errorf("thinking: %q, %q, %v", a.Reasoning, a.Text, err)
	}
	a, err = ask("look it up")
	if err != nil || len(a.Calls) != 2 || a.Finish != scrollback.FinishToolCalls || a.Calls[0].ID == a.Calls[1].ID {
		t.Fatalf("calls: %+v, %q, %v", a.Calls, a.Finish, err)
	}
	said := scrollback.Item{Kind: scrollback.KindMessage, Role: scrollback.RoleAssistant, Model: m.Facts().Name}
	results := scrollback.Item{Kind: scrollback.KindMessage, Role: scrollback.RoleTool}
	for _, c := range a.Calls {
		said.Parts = append(said.Parts, c)
		results.Parts = append(results.Parts, scrollback.ToolResult{CallID: c.ID, Name: c.Name, Text: "7F3K-221"})
	}
	if a, err := ask("look it up", said, results); err != nil || !strings.Contains(a.Text, "7F3K-221") {
		t.Errorf("results: %q, %v", a.Text, err)
	}
	if a, err := ask("fail once"); err != nil || a.Text != "It works the second time." {
		t.Errorf("a fault that passes: %q, %v", a.Text, err)
	}
	if _, err := ask("fail with 401"); scrollback.CodeOf(err) != scrollback.Refused {
		t.Errorf("a wrong key: %v", err)
	}
	_, err = ask("too long")
	if l := model.LessonOf(err); scrollback.CodeOf(err) != scrollback.OverBudget || l == nil || l.Limit != 8192 ||
		l.Requested != 9000 {
		t.Errorf("too long: %v, %+v", err, l)
	}
	if a, err := ask("cut off"); a.Text == "" || err == nil && a.Finish != "" {
		t.Errorf("cut off: %q, %q, %v", a.Text, a.Finish, err)
	}
}
