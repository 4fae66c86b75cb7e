package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/sample"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

func (r *rig) load(text string) (engine.ImportResult, error) {
	return r.Import(context.Background(), strings.NewReader(text), engine.ImportRequest{})
}

// Bad lines are skipped, named by number and reason; the others come in.
func TestImportBadLines(t *testing.T) {
	r := newRig(t, rigOptions{}, modeltest.Say("x"))
	out, err := r.load(strings.Join([]string{
		`{"role":"user","content":"one"}`,
		`{"role":"user","content":`,
		`{"role":"robot","content":"two"}`,
		``,
		`{"role":"assistant","content":[{"type":"hologram"}]}`,
		`{"role":"user","content":"three","created_at":"yesterday"}`,
		`{"role":"user","content":[{"type":"image","data":"!!"}]}`,
		"{\"role\":\"user\",\"content\":\"\xff\"}",
		`["role"]`,
		`{"role":"tool","content":[{"type":"tool_result","call_id":"gone","name":"f","text":"orphan"}]}`,
		`{"role":"user","content":"last"`,
	}, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		line int
		says string
	}{{2, "malformed JSON"}, {3, `unknown role "robot"`}, {5, "hologram"}, {6, "yesterday"}, {7, "base64"}, {8, "UTF-8"}, {9, "shape"}, {11, "malformed JSON"}}
	if len(out.Skipped) != len(want) {
		t.Fatalf("skipped %+v", out.Skipped)
	}
	for i, w := range want {
		if out.Skipped[i].Line != w.line || !strings.Contains(out.Skipped[i].Reason, w.says) {
			t.Errorf("skipped %+v, want line %d about %q", out.Skipped[i], w.line, w.says)
		}
	}
	id := out.Conversations[0].ID
	r.wantShape(id, "u:one", "t:←gone")
	r.ask(id, "q").done(t, scrollback.TurnComplete, "stop") // the orphan goes to the model as text
}

func TestImportRefusals(t *testing.T) {
	r := newRig(t, rigOptions{}, modeltest.Say("x"))
	for text, says := range map[string]string{
		"":                               "no format",
		"hello\nworld":                   "line 1 is: hello",
		`{"role":"robot","content":"x"}`: "line 1: unknown role",
		`{"a":1}`:                        "no format",
	} {
		_, err := r.load(text)
		wantCode(t, err, scrollback.Invalid, says)
	}
	_, err := r.Import(context.Background(), strings.NewReader(`{"role":"user"}`), engine.ImportRequest{Format: "clay"})
	wantCode(t, err, scrollback.Invalid, "clay")
	_, err = r.Import(context.Background(), strings.NewReader(`{"role":"user","content":"x"}`), engine.ImportRequest{Into: "01a1fb8d-0000-7000-8000-000000000000"})
	wantCode(t, err, scrollback.NotFound, "")
}

// The same file twice changes nothing; one that grew extends; one whose past
// changed, or a conversation that went on, is a conflict and is left as it is.
func TestImportAgain(t *testing.T) {
	r := newRig(t, rigOptions{}, modeltest.Say("x"))
	head := `{"conversation":{"id":"src-1","title":"T"}}` + "\n"
	line := func(n int) string { return fmt.Sprintf(`{"role":"user","content":"m%d","id":"f%d"}`+"\n", n, n) }
	first, err := r.load(head + line(1) + line(2))
	if err != nil || !first.Conversations[0].Created || first.Conversations[0].Total != 2 {
		t.Fatalf("first: %+v %v", first, err)
	}
	again, err := r.load(head + line(1) + line(2))
	if c := again.Conversations[0]; err != nil || c.Created || c.Messages != 0 || c.Total != 2 || c.ID != first.Conversations[0].ID {
		t.Fatalf("again: %+v %v", again, err)
	}
	grown, err := r.load(head + line(1) + line(2) + line(3))
	if c := grown.Conversations[0]; err != nil || c.Messages != 1 || c.Total != 3 {
		t.Fatalf("grown: %+v %v", grown, err)
	}
	_, err = r.load(head + line(9) + line(2))
	wantCode(t, err, scrollback.Conflict, "message 1")
	id := first.Conversations[0].ID
	r.ask(id, "go on")
	_, err = r.load(head + line(1) + line(2) + line(3) + line(4))
	wantCode(t, err, scrollback.Conflict, "message 4")
	r.wantShape(id, "u:m1", "u:m2", "u:m3", "u:go on", "a:x")
}

func TestImportManyConversations(t *testing.T) {
	r := newRig(t, rigOptions{}, modeltest.Say("x"))
	var b strings.Builder
	for i := range 30 {
		fmt.Fprintf(&b, `{"conversation_id":"c%d","role":"user","content":"m%d"}`+"\n", i%3, i)
	}
	out, err := r.load(b.String())
	if err != nil || len(out.Conversations) != 3 {
		t.Fatalf("%+v %v", out, err)
	}
	for _, c := range out.Conversations {
		if c.Total != 10 {
			t.Errorf("%s has %d messages", c.ID, c.Total)
		}
	}
}

// What is exported and imported again is the same conversation: roles, parts,
// attachments and whole outputs.
func TestExportAndBack(t *testing.T) {
	var file bytes.Buffer
	if _, _, err := sample.Write(&file, "round", sample.Options{Seed: 8, Messages: 300, Images: 4}); err != nil {
		t.Fatal(err)
	}
	a, b := newRig(t, rigOptions{}, modeltest.Say("x")), newRig(t, rigOptions{}, modeltest.Say("x"))
	in, err := a.load(file.String())
	if err != nil {
		t.Fatal(err)
	}
	checkViews(t, a, in.Conversations[0].ID)
	var out, again bytes.Buffer
	if err := a.Export(context.Background(), in.Conversations[0].ID, "jsonl", &out); err != nil {
		t.Fatal(err)
	}
	back, err := b.load(out.String())
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Export(context.Background(), back.Conversations[0].ID, "jsonl", &again); err != nil {
		t.Fatal(err)
	}
	strip := func(r *rig, id scrollback.ConversationID) (out []scrollback.Message) {
		for _, m := range r.log(id) {
			out = append(out, scrollback.Message{Seq: m.Seq, Role: m.Role, Parts: m.Parts, CreatedAt: m.CreatedAt, Tokens: m.Tokens})
		}
		return out
	}
	if d := cmp.Diff(strip(a, in.Conversations[0].ID), strip(b, back.Conversations[0].ID)); d != "" {
		t.Errorf("the second log differs:\n%.2000s", d)
	}
	if x, y := strings.Count(out.String(), "\n"), strings.Count(again.String(), "\n"); x != y || x != 301 {
		t.Errorf("%d and %d lines", x, y)
	}
}
