package tooltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// exportedID is the conversation that [RunExporter] writes.
const exportedID = "01a1fb8d-0000-7000-8000-00000000000d"

// Exportable returns a conversation with all that messages may say, and its messages.
func Exportable() (scrollback.Conversation, []transcript.Entry) {
	n := 0
	say := func(role scrollback.Role, status scrollback.Status, parts ...scrollback.Part) transcript.Entry {
		n++
		e := transcript.Entry{Message: scrollback.Message{ID: scrollback.MessageID(fmt.Sprintf(
			"01a1fb8d-0000-7000-8000-0000000001%02d", n)), Role: role, CreatedAt: 1796032820130 + int64(n)*1500,
			Parts: parts, Status: status}}
		if role == scrollback.RoleAssistant {
			e.Message.Model = "maker/m1"
			e.Message.Usage = &scrollback.Usage{InputTokens: 10, CachedTokens: 4, OutputTokens: 5, TotalTokens: 15}
		}
		return e
	}
	text := func(s string) scrollback.Part { return scrollback.Text{Text: s} }
	call := func(id, args string) scrollback.Part {
		return scrollback.ToolCall{ID: id, Name: "bash", Arguments: json.RawMessage(args)}
	}
	result := func(id, text string, failed bool) scrollback.Part {
		return scrollback.ToolResult{CallID: id, Name: "bash", Text: text, IsError: failed}
	}
	with := func(e transcript.Entry, bytes map[int][]byte) transcript.Entry {
		e.Bytes = bytes
		return e
	}
	entries := []transcript.Entry{
		say(scrollback.RoleSystem, "", text("Be brief.")),
		say(scrollback.RoleUser, "", text("List \"it\" <all>\n第二")),
		say(scrollback.RoleAssistant, scrollback.StatusComplete, scrollback.Reasoning{Text: "First look."}, text("I look."),
			call("c1", `{"b":1,"a":"<x>"}`), call("c2", `{}`)),
		say(scrollback.RoleTool, "", result("c1", "one\n", false), result("c2", "no such", true)),
		say(scrollback.RoleAssistant, scrollback.StatusComplete, text("Two files.")),
		with(say(scrollback.RoleUser, "", text("What is this?"), scrollback.Image{MediaType: "image/png", Name: "a.png"}),
			map[int][]byte{1: []byte("\x89PNG\r\n\x1a\n")}),
		say(scrollback.RoleAssistant, scrollback.StatusInterrupted, text("It is a")),
		with(say(scrollback.RoleUser, "", text("And these?"), scrollback.File{MediaType: "text/plain", Name: "a.txt"},
			scrollback.File{MediaType: "application/pdf", Name: "a.pdf"}),
			map[int][]byte{1: []byte("in the text"), 2: []byte("%PDF-1.7")}),
		say(scrollback.RoleAssistant, scrollback.StatusComplete, call("c3", `{}`), call("c4", `{}`)),
		with(say(scrollback.RoleTool, "", result("c3", "a picture", false),
			scrollback.Image{MediaType: "image/png", Name: "shot.png"}),
			map[int][]byte{1: []byte("\x89PNG\r\n\x1a\nb")}),
		say(scrollback.RoleTool, "", result("c4", "", false)),
		say(scrollback.RoleTool, "", result("c9", "answers nothing", false)),
		say(scrollback.RoleAssistant, scrollback.StatusFailed, text("503 busy")),
		say(scrollback.RoleUser, "", text("and from there"), scrollback.Image{MediaType: "image/png",
			URL: "https://harbour.test/a.png"}),
		say(scrollback.RoleAssistant, scrollback.StatusComplete, scrollback.Reasoning{Text: "Only thought."}),
		say(scrollback.RoleUser, "", text("Said before, and stored behind.")),
	}
	entries[len(entries)-1].Message.CreatedAt -= 10_000
	return scrollback.Conversation{ID: exportedID, Title: "The harbour", CreatedAt: 1796032820130,
		UpdatedAt: 1796032899130, Roots: []string{"/home/u/harbour"}, Model: "maker/m1"}, entries
}

// RunExporter checks that what is written of a conversation comes back as it was, each message once, and returns the
// file. It is called name.
func RunExporter(t *testing.T, out transcript.Exporter, in transcript.Tool, name string) []byte {
	t.Helper()
	c, entries := Exportable()
	write := func() []byte {
		var b bytes.Buffer
		if err := out.Write(&b, c, func(yield func(transcript.Entry, error) bool) {
			for _, e := range entries {
				if !yield(e, nil) {
					return
				}
			}
		}); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	file := write()
	if !bytes.Equal(file, write()) {
		t.Error("written again it differs")
	}
	if !in.Sniff(name, file[:min(len(file), 64<<10)]) {
		t.Errorf("it is not recognised: %.300s", file)
	}
	var got, want []string
	for _, e := range ReadEntries(t, in, fstest.MapFS{name: {Data: file}}) {
		switch {
		case e.Conversation != nil:
			if e.Source != exportedID || e.Conversation.Title != c.Title || e.Origin.Folder != c.Roots[0] {
				t.Errorf("it comes back as %s %q in %s", e.Source, e.Conversation.Title, e.Origin.Folder)
			}
		case e.Message.Role != "":
			got = append(got, describeEntry(t, e))
		}
	}
	for _, e := range entries {
		want = append(want, describeEntry(t, e))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	return file
}

// describeEntry returns what an import compares, in words.
func describeEntry(t *testing.T, e transcript.Entry) string {
	t.Helper()
	likeness, err := transcript.HashLikeness(e)
	if err != nil {
		t.Fatal(err)
	}
	status := e.Message.Status
	if status == "" {
		status = scrollback.StatusComplete
	}
	list := transcript.WithoutStoreFields(e.Message.Parts)
	for i, p := range list {
		switch p := p.(type) { // readers may say how long attachments are
		case scrollback.Image:
			p.Size = 0
			list[i] = p
		case scrollback.File:
			p.Size = 0
			list[i] = p
		case scrollback.Text, scrollback.Reasoning, scrollback.ToolCall, scrollback.ToolResult:
		}
	}
	parts, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(e.Message.Role, " ", e.Message.CreatedAt, " ", status, " ", likeness, " ", string(parts))
}
