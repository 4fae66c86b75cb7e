package claudecode_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/claudecode"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

// path returns the current path of a conversation among the sessions of a folder.
func path(t interface {
	Helper()
	Fatal(...any)
}, files fs.FS, source string) (out []transcript.Entry) {
	t.Helper()
	p := transcript.Place{FS: files, Name: ".", Now: 1 << 50}
	for s, err := range (claudecode.Tool{}).Sessions(context.Background(), p) {
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range (claudecode.Tool{}).Read(context.Background(), p, s) {
			switch {
			case err != nil:
				t.Fatal(err)
			case e.Source != source || e.Bad != nil || e.Conversation != nil || e.End != nil:
			case e.Rewind != nil:
				out = out[:*e.Rewind:*e.Rewind]
			default:
				out = append(out, e)
			}
		}
	}
	return out
}

// plain returns a message as it is compared: with its attachments, and without what only a
// store or a file knows of it.
func plain(e transcript.Entry) string {
	m := e.Message
	if m.Status == scrollback.StatusComplete {
		m.Status = ""
	}
	for i, p := range m.Parts {
		switch p := p.(type) {
		case scrollback.Image:
			p.Size = 0
			m.Parts = slices.Clone(m.Parts)
			m.Parts[i] = p
		case scrollback.File:
			p.Size = 0
			m.Parts = slices.Clone(m.Parts)
			m.Parts[i] = p
		}
	}
	raw, err := json.Marshal([]any{m.Role, m.Name, m.Model, m.Status, m.CreatedAt, m.Parts, e.Bytes})
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// compare holds what came back against what was written.
func compare(t interface {
	Helper()
	Fatalf(string, ...any)
}, got, want []transcript.Entry) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d messages come back of %d: %q", len(got), len(want), tooltest.ScriptLines(got))
	}
	for i := range got {
		if d := cmp.Diff(plain(want[i]), plain(got[i])); d != "" {
			t.Fatalf("message %d comes back as another:\n%.2000s", i, d)
		}
	}
}

// back returns what an export reads as.
func back(t interface {
	Helper()
	Fatal(...any)
}, c scrollback.Conversation, file []byte) []transcript.Entry {
	return path(t, fstest.MapFS{string(c.ID) + ".jsonl": {Data: file}}, string(c.ID))
}

// Whatever a conversation has comes back from a session.
func TestExportAndBack(t *testing.T) {
	c, entries := talk()
	entries = append(entries, summed())
	file := export(t, c, entries)
	compare(t, back(t, c, file), entries)
	if again := export(t, c, entries); !bytes.Equal(file, again) {
		t.Error("written again it differs")
	}
	for _, e := range tooltest.ReadEntries(t, claudecode.Tool{}, fstest.MapFS{string(c.ID) + ".jsonl": {Data: file}}) {
		if e.Conversation != nil && (e.Conversation.Title != c.Title || e.Origin.ID != string(c.ID) ||
			e.Origin.Folder != "/home/u/harbour") {
			t.Errorf("the conversation is %+v of %+v", e.Conversation, e.Origin)
		}
	}
}

// What was imported, and is exported, is what it was, with the marks that stand beside messages.
func TestImportAndBack(t *testing.T) {
	for _, name := range fixtures(t) {
		for s := range (claudecode.Tool{}).Sessions(t.Context(),
			transcript.Place{FS: os.DirFS("testdata/" + name), Name: "."}) {
			entries := path(t, os.DirFS("testdata/"+name), s.ID)
			c := scrollback.Conversation{ID: "01a1fb8d-0000-7000-8000-00000000000d"}
			got := back(t, c, export(t, c, entries))
			compare(t, got, entries)
			for i, e := range got {
				was := string(entries[i].Message.Meta)
				is := string(e.Message.Meta)
				for _, mark := range []string{`"compaction":true`, `"event":"command"`, `"event":"bash"`, `"event":"bash_output"`} {
					if strings.Contains(was, mark) != strings.Contains(is, mark) {
						t.Errorf("%s: beside message %d stands %s, not %s", name, i, is, was)
					}
				}
			}
		}
	}
}

// The lines are those of the real program: only what it has no form for stands beside.
func TestExportedLines(t *testing.T) {
	c, entries := talk()
	kept := map[string]bool{}
	var leaf, last, parent string
	for line := range strings.Lines(string(export(t, c, entries))) {
		var l struct {
			Type, UUID, SessionID, LeafUUID, ParentUUID string
			Message                                     struct{ Content json.RawMessage }
			Scrollback                                  json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil || l.SessionID != string(c.ID) {
			t.Fatalf("%.200s: %v", line, err)
		}
		if l.UUID != "" {
			if l.ParentUUID != parent {
				t.Errorf("%s hangs on %q", l.UUID, l.ParentUUID)
			}
			parent = l.UUID
			last = l.UUID
		}
		leaf = l.LeafUUID
		if l.Scrollback != nil {
			kept[l.Type+fmt.Sprintf("%.40s", l.Message.Content)] = true
		}
	}
	if leaf != last {
		t.Errorf("it ends at %s, not %s", leaf, last)
	}
	if kept[`user"Which ships are in the harbour? 港口"`] ||
		kept[`assistant[{"type":"text","text":"That was long."}]`] || !kept["system"] {
		t.Errorf("kept beside are %v", kept)
	}
}

// Any talk comes back, whatever its ids, roles and attachments are.
func TestAnyTalkComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := scrollback.Conversation{ID: "01a1fb8d-0000-7000-8000-00000000000e"}
		var entries []transcript.Entry
		for n := range rapid.IntRange(1, 12).Draw(t, "messages") {
			ids := []string{"", "x", fmt.Sprintf("01a1fb8d-0000-7000-9000-%012d", n)}
			roles := []scrollback.Role{scrollback.RoleUser, scrollback.RoleAssistant, scrollback.RoleTool, scrollback.RoleSystem}
			e := transcript.Entry{Message: scrollback.Message{ID: scrollback.MessageID(rapid.SampledFrom(ids).Draw(t, "id")),
				Role:      rapid.SampledFrom(roles).Draw(t, "role"),
				Model:     rapid.SampledFrom([]string{"", "claude-x", "gpt-5", "<synthetic>"}).Draw(t, "model"),
				Status:    rapid.SampledFrom([]scrollback.Status{"", "complete", "interrupted", "failed"}).Draw(t, "status"),
				CreatedAt: int64(rapid.IntRange(0, 1<<41).Draw(t, "at"))}}
			for i := range rapid.IntRange(1, 4).Draw(t, "parts") {
				part, data := drawn(t)
				e.Message.Parts = append(e.Message.Parts, part)
				if data != nil {
					if e.Bytes == nil {
						e.Bytes = map[int][]byte{}
					}
					e.Bytes[i] = data
				}
			}
			entries = append(entries, e)
		}
		var file bytes.Buffer
		if err := (claudecode.Format{}).Write(&file, c, each(entries)); err != nil {
			t.Fatal(err)
		}
		compare(t, back(t, c, file.Bytes()), entries)
	})
}

// drawn returns any part, with its bytes.
func drawn(t *rapid.T) (scrollback.Part, []byte) {
	one := func(name string, of ...string) string { return rapid.SampledFrom(of).Draw(t, name) }
	text := one("text", "", " ", "hello", "two\nlines", "[Request interrupted by user]", "<command-name>/x</command-name>",
		"<bash-input>ls</bash-input>", "a <system-reminder>b</system-reminder>",
		"<persisted-output>\nsaved to: /a/b/tool-results/c.txt",
		"港口", `{"a":1}`)
	id := one("call", "c1", "c2", "a b")
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		return scrollback.Reasoning{Text: text,
			Opaque: json.RawMessage(one("opaque", `{"signature":"s"}`, `{"redacted":"r"}`, `{"id":1}`))}, nil
	case 1:
		return scrollback.ToolCall{ID: id, Name: "look " + id,
			Arguments: json.RawMessage(one("arguments", `{}`, `{"a":1}`, `[1]`, `"x"`))}, nil
	case 2:
		return scrollback.ToolResult{CallID: id, Name: "look " + id, Text: text, IsError: rapid.Bool().Draw(t, "error")}, nil
	case 3:
		return scrollback.Image{MediaType: one("type", "image/png", "image/tiff"), Name: text}, []byte("bytes")
	case 4:
		return scrollback.File{MediaType: one("type", "application/pdf", "text/plain", "x/y"), Name: text}, []byte("bytes")
	}
	return scrollback.Text{Text: text}, nil
}

// each yields entries.
func each(entries []transcript.Entry) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		for _, e := range entries {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// export writes a conversation.
func export(t *testing.T, c scrollback.Conversation, entries []transcript.Entry) []byte {
	t.Helper()
	var b bytes.Buffer
	err := claudecode.Format{}.Write(&b, c, each(entries))
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// dot is a PNG of one pixel.
var dot = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89" +
	"\x00\x00\x00\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\x89\x99=\x1d\x00\x00\x00\x00IEND\xaeB`\x82")

// talk returns a conversation with all that can be written.
func talk() (scrollback.Conversation, []transcript.Entry) {
	c := scrollback.Conversation{ID: "01a1fb8d-0000-7000-8000-00000000000c", Title: "The harbour",
		Roots:     []string{"/home/u/harbour"},
		CreatedAt: 1767225600000}
	var out []transcript.Entry
	add := func(role scrollback.Role, model string, parts ...scrollback.Part) *transcript.Entry {
		n := len(out) + 1
		out = append(out,
			transcript.Entry{Message: scrollback.Message{ID: scrollback.MessageID(fmt.Sprintf("01a1fb8d-0000-7000-9000-%012d",
				n)),
				Role: role, Model: model, Parts: parts, CreatedAt: 1767225600000 + int64(n)*1000}})
		return &out[n-1]
	}
	text := func(s string) scrollback.Part { return scrollback.Text{Text: s} }
	call := func(id, name, args string) scrollback.Part {
		return scrollback.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(args)}
	}
	result := func(id, name, out string) scrollback.Part {
		return scrollback.ToolResult{CallID: id, Name: name, Text: out}
	}
	const user, model, tool = scrollback.RoleUser, scrollback.RoleAssistant, scrollback.RoleTool
	add(scrollback.RoleSystem, "", text("Be brief about ships."))
	add(user, "", text("Which ships are in the harbour? 港口"))
	add(model, "gpt-5", scrollback.Reasoning{Text: "I must look."}, text("I look at both piers."),
		call("call_1", "ls", `{"path":"/north"}`), call("call_1b", "ls", `["/south"]`))
	add(tool, "", result("call_1", "ls", "Anna\nBerta"))
	add(tool, "", scrollback.ToolResult{CallID: "call_1b", Name: "ls", Text: "no such pier", IsError: true})
	add(model, "claude-sonnet-4-5", scrollback.Reasoning{Text: "Signed thought.",
		Opaque: json.RawMessage(`{"signature":"c2ln"}`)},
		text("Anna and Berta."))
	add(user, "", text("What is on this picture?"),
		scrollback.Image{MediaType: "image/png", Name: "dot.png"}).Bytes = map[int][]byte{1: dot}
	add(model, "gpt-5", text("It is a do")).Message.Status = scrollback.StatusInterrupted
	add(user, "", text("Never mind. Shoot one."))
	add(model, "gpt-5", call("call_1", "shot.take", `{}`))
	add(tool, "", result("call_1", "shot.take", "one picture"),
		scrollback.Image{MediaType: "image/png"}).Bytes = map[int][]byte{1: dot}
	add(model, "gpt-5", text("Now I wait."),
		call("call_9", "wait", `{"s":1}`)).Message.Status = scrollback.StatusInterrupted
	add(user, "", text("<command-name>/odd</command-name> is a text of mine"))
	add(model, "", text("So it is."))
	add(user, "", text("Read this."), scrollback.File{MediaType: "text/plain",
		Name: "list.txt"}).Bytes = map[int][]byte{1: []byte("Clara")}
	add(model, "gpt-5", call("call_2", "cat", `{"n":1}`))
	add(tool, "", result("call_2", "cat", strings.Repeat("long line 长 ", 20_000)))
	add(model, "gpt-5", text("That was long."))
	return c, out
}

// summed returns the summary of a compaction, as an importer marks it.
func summed() transcript.Entry {
	return transcript.Entry{Message: scrollback.Message{ID: "01a1fb8d-0000-7000-9000-0000000000f1",
		Role:  scrollback.RoleUser,
		Parts: scrollback.Say("Two ships were seen."), CreatedAt: 1767225690000,
		Meta: json.RawMessage(`{"codex":{"compaction":true}}`)}}
}
