package transfer_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/sample"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/transcript"
)

// The same file imported twice at once comes in once.
func TestImportsAtOnce(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, modeltest.Say("x"))
	var file strings.Builder
	file.WriteString(`{"conversation":{"id":"twice"}}` + "\n")
	for i := range 2000 {
		fmt.Fprintf(&file, `{"role":"user","content":"line %d"}`+"\n", i)
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if _, err := r.ImportText(file.String()); err != nil && scrollback.CodeOf(err) != scrollback.Conflict {
				t.Errorf("import: %v", err)
			}
		})
	}
	wg.Wait()
	out, err := r.ImportText(file.String())
	if err != nil || out.Conversations[0].Total != 2000 {
		t.Errorf("in the end: %+v, %v", out, err)
	}
}

// An attachment that is nowhere is skipped and named, and an image that is none becomes a file;
// the rest comes in.
func TestImportBadAttachment(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("x"))
	out, err := r.ImportText(`{"role":"user","content":"one"}` + "\n" +
		`{"role":"user","content":[{"type":"image","data":"bm90IGFuIGltYWdl"}]}` + "\n" +
		`{"role":"user","content":[{"type":"image","artifact":"` + strings.Repeat("0", 64) + `"}]}` + "\n" +
		`{"role":"assistant","content":"two"}`)
	if err != nil || out.Conversations[0].Total != 3 || len(out.Skipped) != 1 || out.Skipped[0].Line != 3 {
		t.Errorf("%+v, %v", out, err)
	}
}

// Bad lines are skipped, named by number and reason; the others come in.
func TestImportBadLines(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("x"))
	out, err := r.ImportText(strings.Join([]string{
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
	}{{2, "malformed JSON"}, {3, `unknown role "robot"`}, {5, "hologram"}, {6, "yesterday"}, {7, "base64"}, {8, "UTF-8"},
		{9, "shape"},
		{11, "malformed JSON"}}
	if len(out.Skipped) != len(want) {
		t.Fatalf("skipped %+v", out.Skipped)
	}
	for i, w := range want {
		if out.Skipped[i].Line != w.line || !strings.Contains(out.Skipped[i].Reason, w.says) {
			t.Errorf("skipped %+v, want line %d about %q", out.Skipped[i], w.line, w.says)
		}
	}
	id := out.Conversations[0].ID
	r.WantOutline(id, "u:one", "t:←gone")
	r.Ask(id, "q").WantDone(t, scrollback.TurnComplete, "stop") // the orphan goes to the model as text
}

func TestImportRefusals(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("x"))
	for text, says := range map[string]string{
		"":                               "there is nothing in the file",
		"hello\nworld":                   "line 1 is: hello",
		`{"role":"robot","content":"x"}`: "line 1: unknown role",
		`{"a":1}`:                        "no format",
	} {
		_, err := r.ImportText(text)
		enginetest.WantCode(t, err, scrollback.Invalid, says)
	}
	_, err := r.Import(context.Background(), strings.NewReader(`{"role":"user"}`), transfer.ImportRequest{Format: "clay"})
	enginetest.WantCode(t, err, scrollback.Invalid, "clay")
	_, err = r.Import(context.Background(), strings.NewReader(`{"role":"user","content":"x"}`),
		transfer.ImportRequest{Into: "01a1fb8d-0000-7000-8000-000000000000"})
	enginetest.WantCode(t, err, scrollback.NotFound, "")
}

// The same file twice changes nothing; one that grew extends; what one that changed
// its past said before stays on an earlier branch, and so does what somebody said
// without the file.
func TestImportAgain(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("x"))
	head := `{"conversation":{"id":"src-1","title":"T"}}` + "\n"
	lines := func(ns ...int) string {
		out := head
		for _, n := range ns {
			out += fmt.Sprintf(`{"role":"user","content":"m%d","id":"f%d"}`+"\n", n, n)
		}
		return out
	}
	var id scrollback.ConversationID
	for _, step := range []struct {
		file            string
		messages, total int64
		path            []string
		branches        int
	}{
		{lines(1, 2), 2, 2, []string{"u:m1", "u:m2"}, 1},
		{lines(1, 2), 0, 2, []string{"u:m1", "u:m2"}, 1},
		{lines(1, 2, 3), 1, 3, []string{"u:m1", "u:m2", "u:m3"}, 1},
		{lines(9, 2), 2, 2, []string{"u:m9", "u:m2"}, 2},
		{lines(9, 2), 0, 2, []string{"u:m9", "u:m2"}, 2},
		{lines(1, 2, 3), 0, 2, []string{"u:m9", "u:m2"}, 2}, // it says nothing new
		{lines(1, 2, 4), 1, 3, []string{"u:m1", "u:m2", "u:m4"}, 3},
		{lines(1, 2, 3, 5), 1, 4, []string{"u:m1", "u:m2", "u:m3", "u:m5"}, 3},
	} {
		out, err := r.ImportText(step.file)
		if err != nil {
			t.Fatal(err)
		}
		if c := out.Conversations[0]; c.Messages != step.messages || c.Total != step.total || c.Created != (id == "") ||
			id != "" && c.ID != id {
			t.Errorf("%s: %+v", step.file, c)
		}
		id = out.Conversations[0].ID
		r.WantOutline(id, step.path...)
		if bs, err := r.Branches().List(context.Background(), id); err != nil || len(bs) != step.branches {
			t.Errorf("%s: branches %+v, %v", step.file, bs, err)
		}
	}
	r.Ask(id, "go on")
	own := []string{"u:m1", "u:m2", "u:m3", "u:m5", "u:go on", "a:x"}
	r.WantOutline(id, own...)
	out, err := r.ImportText(lines(1, 2, 3, 5, 6))
	if c := out.Conversations[0]; err != nil || c.Messages != 1 || c.Total != 6 {
		t.Errorf("beside what was said here: %+v, %v", c, err)
	}
	r.WantOutline(id, own...)
	if again, err := r.ImportText(lines(1, 2, 3, 5, 6)); err != nil || again.Conversations[0].Messages != 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
	bs, err := r.Branches().List(context.Background(), id)
	if err != nil || len(bs) != 4 {
		t.Fatalf("branches %+v, %v", bs, err)
	}
}

const badImage = `{"role":"user","content":[{"type":"image","artifact":"` +
	"0000000000000000000000000000000000000000000000000000000000000000" + `"}]}` + "\n"

// What cannot be taken in moves nothing: neither does the same file again write what
// is stored behind it again, nor does the conversation leave what was said here.
func TestImportAgainWithWhatIsRefused(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("x"))
	head := `{"conversation":{"id":"src-1"}}` + "\n"
	one := `{"role":"user","content":"m1"}` + "\n"
	two := `{"role":"user","content":"m2"}` + "\n"
	var id scrollback.ConversationID
	for i, want := range []int64{2, 0, 0} {
		out, err := r.ImportText(head + one + badImage + two)
		if err != nil || out.Conversations[0].Messages != want || len(out.Skipped) != 1 {
			t.Fatalf("import %d: %+v, %v", i, out, err)
		}
		id = out.Conversations[0].ID
	}
	r.Ask(id, "go on")
	if out, err := r.ImportText(head + one + badImage + two + badImage); err != nil || out.Conversations[0].Messages != 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	r.WantOutline(id, "u:m1", "u:m2", "u:go on", "a:x")
	if bs, err := r.Branches().List(context.Background(), id); err != nil || len(bs) != 1 {
		t.Errorf("branches %+v, %v", bs, err)
	}
}

// A conversation that was rewound to its beginning is known again.
func TestImportAgainAfterRewindToTheBeginning(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("x"))
	file := `{"role":"user","content":"m1","conversation_id":"s"}` + "\n"
	out, err := r.ImportText(file)
	if err != nil {
		t.Fatal(err)
	}
	id := out.Conversations[0].ID
	zero := int64(0)
	if _, err := r.Branches().Rewind(context.Background(), id, engine.Point{Seq: &zero}); err != nil {
		t.Fatal(err)
	}
	if out, err = r.ImportText(file); err != nil || out.Conversations[0].Messages != 0 {
		t.Errorf("the same file again: %+v, %v", out, err)
	}
}

// slow reads trails, and calls before each message.
type slow struct {
	enginetest.Trail
	before func(word string)
	fail   error // ends the file, when not nil
}

func (s slow) Read(r io.Reader) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		for e, err := range s.Trail.Read(r) {
			s.before(e.Message.Parts.Text())
			if !yield(e, err) {
				return
			}
		}
		if s.fail != nil {
			yield(transcript.Entry{}, s.fail)
		}
	}
}

// Somebody who goes on while a file is read, or whose conversation an import leaves
// half way, finds it where it stood.
func TestImportBesideSomebody(t *testing.T) {
	for name, c := range map[string]struct {
		asked string // while this is read, one more is said
		fail  error
		path  []string
	}{
		"while it is followed": {"b", nil, []string{"u:a", "u:b", "u:mine", "a:x", "u:more", "a:x"}},
		"it breaks off":        {"", io.ErrUnexpectedEOF, []string{"u:a", "u:b", "u:mine", "a:x"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := &slow{before: func(string) {}}
			r := enginetest.New(t, enginetest.Options{Importers: []transcript.Importer{f}}, modeltest.Say("x"))
			out, err := r.ImportText("trail a b")
			if err != nil {
				t.Fatal(err)
			}
			id := out.Conversations[0].ID
			r.Ask(id, "mine")
			f.fail = c.fail
			f.before = func(word string) {
				if word == c.asked {
					r.Ask(id, "more")
				}
			}
			if _, err := r.ImportText("trail a b c d"); (err != nil) != (c.fail != nil) {
				t.Fatal(err)
			}
			r.WantOutline(id, c.path...)
			bs, err := r.Branches().List(context.Background(), id)
			if err != nil || len(bs) != 2 {
				t.Errorf("branches %+v, %v", bs, err)
			}
		})
	}
}

// A source that went back leaves what it left behind on branches; however it is
// read again, and from wherever it grew, nothing is doubled or lost.
func TestImportRewinds(t *testing.T) {
	for _, c := range []struct {
		files string // one after the other
		path  string
		total int // of all messages, on all branches
	}{
		{"a b c 1 d e", "a d e", 5},
		{"a b c 1 d e|a b c 1 d e", "a d e", 5},
		{"a b c|a b c 1 d|a b c 1 d e 3 f", "a d e f", 6},
		{"a b 0 c d 2", "c d", 4},
		{"a b 0 c d 1", "c", 4},
		{"a b c 1 b c", "a b c", 3}, // the same words again are what is there
		{"a b c 1 b x|a b c", "a b x", 4},
		{"a 0 b 0 c 0 a", "a", 3},
		{"a b 1 c 1 d 1 c e", "a c e", 5},
		{"a x|a b 1 c", "a c", 4},
	} {
		r := enginetest.New(t, enginetest.Options{Importers: []transcript.Importer{enginetest.Trail{}}}, modeltest.Say("x"))
		var id scrollback.ConversationID
		for file := range strings.SplitSeq(c.files, "|") {
			out, err := r.ImportText("trail " + file)
			if err != nil {
				t.Fatal(err)
			}
			id = out.Conversations[0].ID
		}
		var path []string
		for _, m := range r.Log(id) {
			path = append(path, m.Parts.Text())
		}
		bs, err := r.Branches().List(context.Background(), id)
		if err != nil {
			t.Fatal(err)
		}
		total := 0
		for _, b := range bs {
			total += int(b.Messages)
		}
		if got := strings.Join(path, " "); got != c.path || total != c.total {
			t.Errorf("%s: the path is %q with %d messages on all branches, want %q and %d", c.files, got, total, c.path, c.total)
		}
	}
}

// Where the source gives no title, what is asked first does.
func TestImportTitles(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("x"))
	for file, want := range map[string]string{
		`{"conversation":{"id":"a"}}` + "\n" + `{"role":"system","content":"be brief"}` + "\n" +
			`{"role":"user","content":"\n what now? \nmore"}`: "what now?",
		`{"conversation":{"id":"b","title":"T"}}` + "\n" + `{"role":"user","content":"q"}`: "T",
		`{"role":"user","content":"alone"}`:                                                "alone",
	} {
		out, err := r.ImportText(file)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := r.Get(context.Background(), out.Conversations[0].ID); err != nil || c.Title != want {
			t.Errorf("%s is titled %q, %v; want %q", file, c.Title, err, want)
		}
	}
}

func TestImportManyConversations(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("x"))
	var b strings.Builder
	for i := range 30 {
		fmt.Fprintf(&b, `{"conversation_id":"c%d","role":"user","content":"m%d"}`+"\n", i%3, i)
	}
	out, err := r.ImportText(b.String())
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
	if _, _, err := sample.WriteSample(&file, "round", sample.Options{Seed: 8, Messages: 300, Images: 4}); err != nil {
		t.Fatal(err)
	}
	a := enginetest.New(t, enginetest.Options{}, modeltest.Say("x"))
	b := enginetest.New(t, enginetest.Options{}, modeltest.Say("x"))
	in, err := a.ImportText(file.String())
	if err != nil {
		t.Fatal(err)
	}
	enginetest.CheckViews(t, a, in.Conversations[0].ID)
	var out, again bytes.Buffer
	if err := a.Export(context.Background(), in.Conversations[0].ID, transfer.ExportRequest{Format: "jsonl"},
		&out); err != nil {
		t.Fatal(err)
	}
	back, err := b.ImportText(out.String())
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Export(context.Background(), back.Conversations[0].ID, transfer.ExportRequest{Format: "jsonl"},
		&again); err != nil {
		t.Fatal(err)
	}
	strip := func(r *enginetest.Rig, id scrollback.ConversationID) (out []scrollback.Message) {
		for _, m := range r.Log(id) {
			out = append(out, scrollback.Message{Seq: m.Seq, Role: m.Role, Parts: m.Parts, CreatedAt: m.CreatedAt,
				Tokens: m.Tokens})
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
