package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/internal/wire"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/token"
)

// provider returns a server of the test's own that speaks as OpenAI: it chats, looks
// things up when told to, and writes summaries.
func provider(t *testing.T) (*modeltest.Server, []string) {
	t.Helper()
	var n atomic.Int64
	s := &modeltest.Server{Model: modeltest.NewScript(model.Facts{},
		modeltest.Step{Reply: func(r model.Request) []model.Delta {
			last := r.Items[len(r.Items)-1]
			usage := &scrollback.Usage{CachedTokens: 600, OutputTokens: 20}
			for _, it := range r.Items {
				usage.InputTokens += int64(token.Count(fmt.Sprint(it.Parts)))
			}
			usage.TotalTokens = usage.InputTokens + usage.OutputTokens
			switch i := n.Add(1); {
			case len(r.Tools) == 0:
				return []model.Delta{{Text: minutes(r.Items[0].Parts.Text())}, {Usage: usage}}
			case last.Role == scrollback.RoleUser && strings.Contains(last.Parts.Text(), "vault"):
				return []model.Delta{{Reasoning: "it is folded"},
					{Call: &scrollback.ToolCall{ID: fmt.Sprint("c", i), Name: "context_grep",
						Arguments: json.RawMessage(`{"pattern":"K-4711"}`)}},
					{Usage: usage}}
			case last.Role == scrollback.RoleTool:
				return []model.Delta{{Text: "It was: " + last.Parts.Results()[0].Text}, {Usage: usage}}
			}
			return []model.Delta{{Reasoning: "let me think"}, {Text: "回答 "}, {Text: strings.Repeat("so it is, and so on. ", 20)},
				{Usage: usage}}
		}})}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	return s, []string{"SCROLLBACK_BASE_URL=" + srv.URL, "SCROLLBACK_MODEL=custom/m", "SCROLLBACK_LIMIT=8000"}
}

// minutes returns a summary with the headings that are asked for, or the verdict on one.
func minutes(instructions string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(instructions, "\n") {
		if strings.HasPrefix(line, "## ") {
			b.WriteString(line + "\n- 谈项目\n")
		}
	}
	if b.Len() == 0 {
		return "OK"
	}
	return b.String()
}

// The policy rolling in the program, by the config file: after every few messages a
// model's notes take the place of older ones, in Chinese and checked, and what the
// person pinned stays beside them.
func TestProviderRolling(t *testing.T) {
	t.Parallel()
	_, env := provider(t)
	config := filepath.Join(t.TempDir(), "config.toml")
	write(t, config, []byte("policy = 'rolling'\n[compaction]\ncheck_calls = 1\n"))
	s := serve(t, t.TempDir(), append(env, "SCROLLBACK_LIMIT=64000"), "--config", config)
	id := s.conversation()
	s.chat(id, "请记住：仓库的钥匙在第三个花盆下面。")
	if status := s.do("PATCH", "/api/conversations/"+string(id), strings.NewReader(`{"pinned_seqs":[1]}`),
		nil); status != 200 {
		t.Fatalf("pinning: %d", status)
	}
	for i := range 20 {
		s.chat(id, fmt.Sprintf("第 %d 个问题：%s", i, strings.Repeat("请说说这件事情的来龙去脉。", 8)))
	}
	s.settled(id)
	m := get[scrollback.Manifest](s, "/api/conversations/"+string(id)+"/context")
	if m.Policy != "rolling" {
		t.Fatalf("the window is of the policy %s", m.Policy)
	}
	var seqs []int64
	for _, l := range m.Layers {
		for _, it := range l.Items {
			if it.Kind == scrollback.KindMessage || it.Kind == scrollback.KindPin {
				seqs = append(seqs, it.Seq)
			}
		}
	}
	if len(seqs) < 5 || len(seqs) > 13 || seqs[0] != 1 || seqs[1] < 20 {
		t.Errorf("it shows messages %v", seqs)
	}
	got := get[struct {
		Receipts []scrollback.Receipt `json:"receipts"`
	}](s, "/api/conversations/"+string(id)+"/receipts")
	if len(got.Receipts) < 2 {
		t.Errorf("%d folds in 20 turns", len(got.Receipts))
	}
	for _, r := range got.Receipts {
		if r.Result != scrollback.ResultCompacted || r.SummaryBy != "custom/m" || !r.Checked ||
			r.TokensAfter >= r.TokensBefore {
			t.Errorf("%+v", r)
		}
	}
}

// The program with a model of a server that speaks as OpenAI: folds carry the
// model's summary, what is folded is looked up, a server that fails for a moment
// is asked again, and every call is in the books.
func TestProvider(t *testing.T) {
	t.Parallel()
	p, env := provider(t)
	s := serve(t, t.TempDir(), env)
	id := s.conversation()
	s.chat(id, "The code of the deposit is K-4711, keep it.")
	for i := range 30 {
		if i == 4 {
			p.FailNext(2)
		}
		frames := s.chat(id, fmt.Sprintf("Question %d. ", i)+strings.Repeat("更多 words. ", 60))
		if d, _ := frameOf(frames, "done"); d.Status != scrollback.TurnComplete || d.FinishReason != "stop" {
			t.Fatalf("turn %d ended %+v", i, d)
		}
		if r, ok := frameOf(frames, "reasoning"); !ok || r.Content != "let me think" {
			t.Fatalf("turn %d: reasoning %+v", i, r)
		}
		if m, _ := frameOf(frames, "meta"); m.Tokens > m.Budget {
			t.Fatalf("turn %d sends %d tokens of %d", i, m.Tokens, m.Budget)
		}
	}
	said := answer(t, s.chat(id, "What was the code of the vault?"))
	if !strings.Contains(said, "K-4711") {
		t.Errorf("it answers %q", said)
	}
	s.settled(id)
	got := get[struct {
		Receipts []scrollback.Receipt `json:"receipts"`
	}](s, "/api/conversations/"+string(id)+"/receipts")
	if len(got.Receipts) < 2 {
		t.Errorf("%d folds in 30 turns", len(got.Receipts))
	}
	for _, r := range got.Receipts {
		if r.Result != scrollback.ResultCompacted || r.SummaryBy != "custom/m" {
			t.Errorf("%+v", r)
		}
	}
	m := get[scrollback.Manifest](s, "/api/conversations/"+string(id)+"/context")
	if m.Policy != "snapshot" || m.Model != "custom/m" || m.Limit != 8000 {
		t.Errorf("manifest %s, %s, %d", m.Policy, m.Model, m.Limit)
	}
	books := get[struct {
		Usage []scrollback.UsageSum `json:"usage"`
	}](s, "/api/usage", "group_by", "model")
	if n := len(p.Bodies()) - 2; len(books.Usage) != 1 || books.Usage[0].Calls != int64(n) ||
		books.Usage[0].EstimatedShare != 0 ||
		books.Usage[0].CachedTokens != 600*int64(n) {
		t.Errorf("after %d calls the books say %+v", n, books.Usage)
	}
	bodies := slices.DeleteFunc(p.Bodies(), func(b wire.ChatRequest) bool { return len(b.Tools) == 0 }) // those are folds
	sent := bodies[len(bodies)-1].Messages
	if text := sent[0].Content.Text(); !strings.HasPrefix(text, "<environment>\nToday is ") ||
		strings.Contains(text, "Working folders") {
		t.Errorf("the last request begins\n%s", text)
	}
	if text := sent[1].Content.Text(); !strings.Contains(text, "谈项目") || !strings.Contains(text, "K-4711") {
		t.Errorf("what was folded is told as\n%s", text)
	}
}

// A server that is away before the first word: the turn fails with a plain error,
// the question is kept, and asking again answers it.
func TestProviderAway(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	p, env := provider(t)
	s := serve(t, t.TempDir(), env)
	id := s.conversation()
	p.FailNext(100)
	frames := s.chat(id, "Hello?")
	e, _ := frameOf(frames, "error")
	if d, _ := frameOf(frames, "done"); d.Status != scrollback.TurnFailed || e.Code != scrollback.Unavailable ||
		strings.Contains(e.Message, "broken") || strings.Contains(e.Message, "127.0.0.1") {
		t.Fatalf("it ended %+v, told %+v", d, e)
	}
	if n := len(p.Bodies()); n != 4 {
		t.Errorf("asked %d times, want once and three times again", n)
	}
	p.FailNext(0)
	resp := s.do("POST", "/api/conversations/"+string(id)+"/chat", strings.NewReader(`{"stream":false}`), nil)
	if log := s.log(id); resp != 200 || len(log) != 2 || log[0].Parts.Text() != "Hello?" {
		t.Errorf("status %d, then %d messages", resp, len(log))
	}
}

// A failure of a turn is said once, where the turn is shown; the log says it only on demand.
func TestFailureIsSaidOnce(t *testing.T) {
	t.Parallel()
	const refusal = "the weights of this model are gone"
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":{"message":%q}}`, refusal)
	}))
	t.Cleanup(srv.Close)
	notebook := filepath.Join(t.TempDir(), "talk.mtm")
	write(t, notebook, []byte(`{"context": []}`))
	env := []string{"SCROLLBACK_BASE_URL=" + srv.URL, "SCROLLBACK_MODEL=custom/m", "SCROLLBACK_LIMIT=8000"}
	for _, c := range []struct {
		args  []string
		stdin string
		env   string
		logs  int
	}{
		{args: []string{"run", "hello"}},
		{args: []string{"chat"}, stdin: "hello\n"},
		{args: []string{"chat", "--json"}, stdin: "hello\n"},
		{args: []string{"notebook", "run", notebook, "hello"}},
		{args: []string{"run", "hello"}, env: "SCROLLBACK_LOG_LEVEL=debug", logs: 1},
	} {
		cmd := command(t, t.TempDir(), append(slices.Clone(env), c.env), c.args...)
		cmd.Stdin = strings.NewReader(c.stdin)
		out, err := cmd.CombinedOutput()
		if err == nil {
			t.Errorf("%v: no failure:\n%s", c.args, out)
		}
		if got := strings.Count(string(out), refusal); got != 1+c.logs {
			t.Errorf("%v: the refusal is said %d times:\n%s", c.args, got, out)
		}
		if got := strings.Count(string(out), "a turn failed"); got != c.logs {
			t.Errorf("%v: the failure is logged %d times:\n%s", c.args, got, out)
		}
	}
}

// A conversation goes on with the model that it was held with, and says so when that is gone.
func TestModelGoesOn(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	_, env := provider(t)
	data := t.TempDir()
	say := func(stdin string, env []string, args ...string) string {
		t.Helper()
		cmd := command(t, data, env, args...)
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	with := []string{env[0], env[2]} // the default is the offline model
	const answer, offline = "so it is, and so on.", "offline model"
	says(t, say("hello\n", with, "chat", "--model", "custom/m"), answer)
	says(t, say("and?\n/model\n", with, "chat", "--resume"), answer, "model: custom/m")
	says(t, say("", with, "run", "--conversation", "latest", "and?"), answer)
	without := say("and?\n/resume latest\nand?\n", []string{env[2]}, "chat", "--resume")
	says(t, without, "custom/m cannot be asked here (", "SCROLLBACK_BASE_URL", "; going on with offline", offline)
	if strings.Count(without, "cannot be asked here") != 2 { // at the start, and where it is resumed again
		t.Errorf("a model that is gone is told of otherwise:\n%s", without)
	}
	says(t, say("and?\n", with, "chat", "--resume"), answer) // it is there again

	// A model that is named for a conversation that goes on stays with it, and is one for it alone.
	says(t, say("", with, "run", "a second conversation"), offline)
	says(t, say("hello\n", with, "chat", "--resume", "--model", "custom/m"), answer)
	says(t, say("hello\n", with, "chat", "--resume"), answer)
	says(t, say("", with, "run", "--model", "custom/m", "a third conversation"), answer)
	says(t, say("hello\n", with, "chat", "--resume"), answer)
	says(t, say("", with, "run", "--conversation", "latest", "--model", "offline", "just once"), offline)
	says(t, say("hello\n", with, "chat", "--resume"), answer)
}
