package opencode_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/opencode"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

// What is said, called and returned comes back from an export, once and in its order, as of the conversation it was.
func TestExportAndBack(t *testing.T) {
	const id = "01a1fb8d-0000-7000-8000-00000000000d"
	say := func(role scrollback.Role, at int64, parts ...scrollback.Part) transcript.Entry {
		return transcript.Entry{Message: scrollback.Message{ID: scrollback.MessageID(fmt.Sprint("m", at)),
			Role: role, CreatedAt: at, Parts: parts, Status: scrollback.StatusComplete}}
	}
	text := func(s string) scrollback.Part { return scrollback.Text{Text: s} }
	call := func(id, args string) scrollback.Part {
		return scrollback.ToolCall{ID: id, Name: "bash", Arguments: json.RawMessage(args)}
	}
	result := func(id, text string, failed bool) scrollback.Part {
		return scrollback.ToolResult{CallID: id, Name: "bash", Text: text, IsError: failed}
	}
	picture := say(scrollback.RoleUser, 3000, text("What is this?"),
		scrollback.Image{MediaType: "image/png", Name: "a.png"})
	picture.Bytes = map[int][]byte{1: []byte("\x89PNG")}
	cut := say(scrollback.RoleAssistant, 5000, text("It is a"))
	cut.Message.Status = scrollback.StatusInterrupted
	entries := []transcript.Entry{
		say(scrollback.RoleSystem, 900, text("Be brief.")),
		say(scrollback.RoleUser, 1000, text("List \"it\" <all>\n第二")),
		say(scrollback.RoleAssistant, 1500, scrollback.Reasoning{Text: "First look."}, text("I look."), call("c1", `{"a":1}`),
			call("c2", `{}`)),
		say(scrollback.RoleTool, 1600, result("c1", "one", false), result("c2", "no such", true)),
		say(scrollback.RoleAssistant, 2000, text("Two files.")),
		picture,
		cut,
	}
	c := scrollback.Conversation{ID: id, Title: "The harbour", CreatedAt: 900, UpdatedAt: 1796032820130,
		Roots: []string{"/home/u/harbour"}, Model: "maker/m1"}
	write := func() []byte {
		var b bytes.Buffer
		err := (opencode.Tool{}).Write(&b, c, func(yield func(transcript.Entry, error) bool) {
			for _, e := range entries {
				if !yield(e, nil) {
					return
				}
			}
		})
		if err != nil || !json.Valid(b.Bytes()) {
			t.Fatal(err, b.String())
		}
		return b.Bytes()
	}
	file := write()
	if !bytes.Equal(file, write()) {
		t.Error("written again it differs")
	}
	if !(opencode.Tool{}).Sniff("x.json", file[:200]) {
		t.Errorf("it is not recognised: %.200s", file)
	}
	var got []string
	for _, e := range tooltest.ReadEntries(t, opencode.Tool{}, fstest.MapFS{"x.json": {Data: file}}) {
		switch {
		case e.Conversation != nil:
			got = append(got, fmt.Sprint(e.Source, e.Conversation.Title, e.Origin.ID, e.Origin.Folder))
		case e.Message.Role != "":
			var says []string
			for i, p := range e.Message.Parts {
				if n := len(e.Bytes[i]); n > 0 {
					says = append(says, fmt.Sprint(n, " bytes"))
					continue
				}
				switch p := p.(type) {
				case scrollback.Text:
					says = append(says, p.Text)
				case scrollback.Reasoning:
					says = append(says, "("+p.Text+")")
				case scrollback.ToolCall:
					says = append(says, p.ID+" "+p.Name+string(p.Arguments))
				case scrollback.ToolResult:
					says = append(says, fmt.Sprint(p.CallID, " -> ", p.Text, " ", p.IsError))
				}
			}
			got = append(got, fmt.Sprint(e.Message.Role, " ", e.Message.CreatedAt, " ", e.Message.Status, " ",
				strings.Join(says, "; ")))
		}
	}
	want := []string{
		id + "The harbour" + "ses_01a1fb8d00007000800000000000000d" + "/home/u/harbour",
		"user 1000  List \"it\" <all>\n第二",
		`assistant 1500 complete (First look.); I look.; c1 bash{"a":1}; c2 bash{}`,
		"tool 1600  c1 -> one false; c2 -> no such true",
		"assistant 2000 complete Two files.",
		"user 3000  What is this?; 4 bytes",
		"assistant 5000 interrupted It is a",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
