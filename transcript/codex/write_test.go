package codex_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/codex"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

// thread returns the current path of the first conversation that entries tell.
func thread(entries []transcript.Entry) (c scrollback.Conversation, path []transcript.Entry) {
	for _, e := range entries {
		switch {
		case e.Conversation != nil:
			c = *e.Conversation
			c.ID = scrollback.ConversationID(e.Source)
		case e.Rewind != nil:
			path = path[:*e.Rewind]
		case e.End != nil:
			return c, path
		case e.Bad == nil:
			path = append(path, e)
		}
	}
	return c, path
}

func sequence(list []transcript.Entry) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		for _, e := range list {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// rollout returns a conversation as the tool would find it.
func rollout(t *testing.T, c scrollback.Conversation, path []transcript.Entry) fstest.MapFS {
	t.Helper()
	var b bytes.Buffer
	if err := (codex.Tool{}).Write(&b, c, sequence(path)); err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(b.String()), "\n") {
		if !json.Valid([]byte(line)) {
			t.Fatalf("line %d is not JSON: %s", i+1, line)
		}
	}
	name := fmt.Sprintf("sessions/2026/03/02/rollout-2026-03-02T08-00-00-%s.jsonl", c.ID)
	return fstest.MapFS{name: &fstest.MapFile{Data: b.Bytes(), Mode: 0o644}}
}

// said returns a path as its likenesses and what they leave out.
func said(t *testing.T, path []transcript.Entry) (out []string) {
	t.Helper()
	for i, e := range path {
		alike, err := transcript.HashLikeness(e)
		if err != nil {
			t.Fatal(err)
		}
		line := tooltest.ScriptLines([]transcript.Entry{e})[0]
		u := ""
		if e.Message.Usage != nil {
			u = usage(*e.Message.Usage)
		}
		out = append(out, fmt.Sprintf("%d %s %s %s %s %s", i, line, stamp(e.Message.CreatedAt), e.Message.Model, u, alike))
	}
	return out
}

// What was imported and is written reads as the same talk.
func TestWrittenReadsTheSame(t *testing.T) {
	folders := []string{}
	for name := range fixtures {
		folders = append(folders, "testdata/"+name)
	}
	more, err := filepath.Glob("../../../shared/agents/codex-*")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range append(folders, more...) {
		c, want := thread(tooltest.ReadEntries(t, codex.Tool{}, os.DirFS(folder)))
		back, got := thread(tooltest.ReadEntries(t, codex.Tool{}, rollout(t, c, want)))
		if diff := cmp.Diff(said(t, want), said(t, got)); diff != "" || len(want) == 0 {
			t.Errorf("%s, %d messages (-want +got):\n%s", folder, len(want), diff)
		}
		if back.Title != c.Title {
			t.Errorf("%s: the title is %q, want %q", folder, back.Title, c.Title)
		}
	}
}

// everything returns a conversation of ours with all that there can be.
func everything(t *testing.T) (scrollback.Conversation, []transcript.Entry) {
	t.Helper()
	c := scrollback.Conversation{ID: "01a20000-0000-7000-8000-0000000000e1", Title: "All <of> it",
		CreatedAt: 1772359200000,
		Roots:     []string{"/home/eve"}}
	at := int64(1772359200000)
	message := func(role scrollback.Role, parts ...scrollback.Part) (e transcript.Entry) {
		at += 1500
		e.Message = scrollback.Message{Role: role, Parts: parts, CreatedAt: at, Status: scrollback.StatusComplete}
		return e
	}
	picture := message(scrollback.RoleUser, scrollback.Text{Text: "Look at <this> & that"},
		scrollback.Image{MediaType: "image/png", Name: "a b.png"})
	picture.Bytes = map[int][]byte{1: pixel(t)}
	answer := message(scrollback.RoleAssistant, scrollback.Reasoning{Text: "first"}, scrollback.Text{Text: "I look."},
		scrollback.ToolCall{ID: "c1", Name: "read_file", Arguments: json.RawMessage(`{"path":"x"}`)},
		scrollback.ToolCall{ID: "c2", Name: "shed_list", Arguments: json.RawMessage(`{}`)})
	answer.Message.Model = "some-other/model"
	answer.Message.Usage = &scrollback.Usage{InputTokens: 10, OutputTokens: 5, TotalTokens: 15}
	stopped := message(scrollback.RoleAssistant, scrollback.Text{Text: "I was say"})
	stopped.Message.Model = "some-other/model"
	stopped.Message.Status = scrollback.StatusInterrupted
	return c, []transcript.Entry{picture, answer,
		message(scrollback.RoleTool, scrollback.ToolResult{CallID: "c1", Name: "read_file", Text: "no such file",
			IsError: true}),
		message(scrollback.RoleTool, scrollback.ToolResult{CallID: "c2", Name: "shed_list", Text: "a rake"}),
		stopped, message(scrollback.RoleUser, scrollback.Text{Text: "<environment_context>mine</environment_context>"}),
		message(scrollback.RoleSystem, scrollback.Text{Text: "From now on in verse"}),
		message(scrollback.RoleAssistant, scrollback.Text{Text: "One"}, scrollback.Reasoning{Text: "two"},
			scrollback.Text{Text: "three"},
			scrollback.ToolCall{ID: "c3", Name: "a", Arguments: json.RawMessage(`{}`)},
			scrollback.ToolCall{ID: "c4", Name: "b.c", Arguments: json.RawMessage(`{}`)}),
		message(scrollback.RoleTool, scrollback.ToolResult{CallID: "c3", Name: "a", Text: "A"},
			scrollback.ToolResult{CallID: "c4", Name: "b.c", Text: "B"}),
		message(scrollback.RoleAssistant, scrollback.Text{Text: "Twice"}),
		message(scrollback.RoleAssistant, scrollback.Text{Text: "in a row"}),
		message(scrollback.RoleAssistant, scrollback.Reasoning{Text: "only thoughts"}),
		message(scrollback.RoleUser, scrollback.Text{Text: "a"}, scrollback.Text{Text: "b"}),
	}
}

// pixel returns a picture.
func pixel(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestOursReadsTheSame(t *testing.T) {
	c, want := everything(t)
	_, got := thread(tooltest.ReadEntries(t, codex.Tool{}, rollout(t, c, want)))
	if diff := cmp.Diff(said(t, want), said(t, got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What the tool's models would refuse is spelled in another way, and what it has no item for
// is a text; read here, it is what it was.
func TestItems(t *testing.T) {
	c, list := everything(t)
	list[1].Message.Parts = scrollback.Parts{scrollback.ToolCall{ID: "c1", Name: "shed.list 道具",
		Arguments: json.RawMessage(`{"a":1}`)}}
	list[0].Message.Parts = scrollback.Parts{scrollback.File{MediaType: "text/csv", Name: "beds.csv"},
		scrollback.File{Name: "z.bin", Size: 3}}
	list[0].Bytes = map[int][]byte{0: []byte("rose,1\n"), 1: {0xff, 0xfe, 0}}
	files := rollout(t, c, list[:2])
	_, got := thread(tooltest.ReadEntries(t, codex.Tool{}, files))
	if diff := cmp.Diff(said(t, list[:2]), said(t, got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, f := range files {
		for _, want := range []string{`"name":"shed_list___"`, `"text":"[file beds.csv]\nrose,1\n"`,
			`"text":"[file z.bin, 3 bytes]"`} {
			if !strings.Contains(string(f.Data), want) {
				t.Errorf("%s is not in\n%s", want, f.Data)
			}
		}
	}
}

// A summary is one there, whichever tool has made it.
func TestSummaries(t *testing.T) {
	c, list := everything(t)
	list = list[len(list)-1:]
	list[0].Message.Parts = scrollback.Say("So far: roses")
	for meta, want := range map[string]bool{`{"codex":{"compaction":true}}`: true,
		`{"some_tool":{"x":1,"compaction":true}}`:                 true,
		`{"some_tool":{"compaction":false},"other":"compaction"}`: false, "": false} {
		list[0].Message.Meta = json.RawMessage(meta)
		for _, f := range rollout(t, c, list) {
			if got := strings.Contains(string(f.Data), `"type":"compacted","payload":{"message":"So far: roses"}`); got != want {
				t.Errorf("%s: %v, in\n%s", meta, got, f.Data)
			}
		}
	}
}

func TestWriteFails(t *testing.T) {
	c, list := everything(t)
	full := fmt.Errorf("full")
	if err := (codex.Tool{}).Write(failing{full}, c, sequence(list)); err == nil {
		t.Error("no error of the writer")
	}
	broken := func(yield func(transcript.Entry, error) bool) { yield(transcript.Entry{}, full) }
	if err := (codex.Tool{}).Write(&bytes.Buffer{}, c, broken); err == nil {
		t.Error("no error of the entries")
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
