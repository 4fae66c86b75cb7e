package claude_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/claude"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

const uuid = "00000000-1111-4000-8000-000000000"

func TestDetails(t *testing.T) {
	messages := map[string]transcript.Entry{}
	about := map[string]transcript.Entry{}
	for _, e := range tooltest.ReadEntries(t, claude.Tool{}, place) {
		if e.Conversation != nil {
			about[e.Source] = e
		} else if len(e.Message.Parts) > 0 {
			messages[e.Source+" "+string(e.Message.ID)] = e
		}
	}
	bulk := about[uuid+"100"]
	dump := about[uuid+"500"]
	if c := bulk.Conversation; c.Model != "" || c.CreatedAt != 1767348000000 || c.UpdatedAt != 1767351600000 ||
		c.Meta != nil {
		t.Errorf("an export is %+v", *c)
	}
	if c := dump.Conversation; c.Model != "claude-sonnet-4-5" ||
		string(c.Meta) != `{"claude":{"project":"Games","is_starred":true}}` {
		t.Errorf("a dump is %+v with %s", *c, c.Meta)
	}
	if o := bulk.Origin; o.ID != uuid+"100" || o.Root != uuid+"001" {
		t.Errorf("it comes from %+v", *o)
	}
	for id, want := range map[string]string{
		"001":   "user 1767348001500 ",
		"002":   "assistant 1767348002500 ",
		"002#2": "tool 1767348002500 ",
		"002#3": "assistant 1767348002500 ",
		"002#4": "tool 1767348002500 ",
		"002#5": "assistant 1767348002500 ",
		"004":   `assistant 1767348004500 {"claude":{"stop_reason":"user_canceled","truncated":true}}`,
	} {
		m := messages[uuid+"500 "+uuid+id].Message
		if got := fmt.Sprintf("%s %d %s", m.Role, m.CreatedAt, m.Meta); got != want {
			t.Errorf("%s is %q, want %q", id, got, want)
		}
	}
	png, err := fs.ReadFile(place, "export/attachments/"+uuid+"077.png")
	if e := messages[uuid+"100 "+uuid+"001"]; err != nil || string(e.Bytes[4]) != string(png) || len(e.Bytes) != 1 {
		t.Errorf("the image is %v, %v", e.Bytes, err)
	}
}

// watched is a place that notes what is opened.
type watched struct {
	fs.FS
	opened map[string]bool
}

func (w watched) Open(name string) (fs.File, error) {
	w.opened[name] = true
	return w.FS.Open(name)
}

// Who somebody is stands in users.json, which is never opened.
func TestNobodyAsksWhoYouAre(t *testing.T) {
	w := watched{place, map[string]bool{}}
	tooltest.ReadEntries(t, claude.Tool{}, w)
	if w.opened["export/users.json"] || !w.opened["export/conversations.json"] {
		t.Errorf("what was opened is %v", w.opened)
	}
	if (claude.Tool{}).Sniff("users.json", []byte(`[{"uuid":"x","chat_messages":[]}]`)) {
		t.Error("users.json is taken for conversations")
	}
}

// A conversation cannot choose an attachment by anything but an id.
func TestForeignNames(t *testing.T) {
	for _, id := range []string{"users.json", "users", "../secret", "secret", "credentials-of-somebody-with-36-chars",
		""} {
		files := fstest.MapFS{"secret": {Data: []byte("mine")}, "users.json": {Data: []byte("mine")},
			"credentials-of-somebody-with-36-chars.txt": {Data: []byte("mine")},
			"conversations.json": {Data: fmt.Appendf(nil,
				`[{"uuid":"c","chat_messages":[{"uuid":"m","sender":"human","text":"hi",`+
					`"files":[{"file_name":"shown","file_uuid":%q}]}]}]`, id)}}
		got := strings.Join(tooltest.ScriptLines(tooltest.ReadEntries(t, claude.Tool{}, files)), "; ")
		if got != "c:; user | hi | [file shown: not in the export]; end" {
			t.Errorf("for %q it says %s", id, got)
		}
	}
}

// Parents that the file does not have are roots, and of several leaves the newest counts.
func TestLeaves(t *testing.T) {
	const chat = `{"uuid":"c","chat_messages":[
		{"uuid":"1","sender":"human","text":"one","created_at":"2026-01-01T00:00:01Z","parent_message_uuid":"none"},
		{"uuid":"2","sender":"assistant","text":"two","created_at":"2026-01-01T00:00:02Z","parent_message_uuid":"1"},
		{"uuid":"3","sender":"assistant","text":"new","created_at":"%s","parent_message_uuid":"1"},
		{"uuid":"4","sender":"human","text":"","created_at":"2026-01-01T00:00:09Z","parent_message_uuid":"3"}]%s}`
	for _, c := range []struct{ at, more, want string }{
		{"2026-01-01T00:00:03Z", "", "user | one; assistant | two; back to 1; assistant | new"},
		{"2026-01-01T00:00:01Z", "", "user | one; assistant | new; back to 1; assistant | two"},
		{"2026-01-01T00:00:03Z", `,"current_leaf_message_uuid":"2"`,
			"user | one; assistant | new; back to 1; assistant | two"},
		{"2026-01-01T00:00:01Z", `,"current_leaf_message_uuid":"4"`,
			"user | one; assistant | two; back to 1; assistant | new"},
		{"2026-01-01T00:00:03Z", `,"current_leaf_message_uuid":"gone"`,
			"user | one; assistant | two; back to 1; assistant | new"},
	} {
		files := fstest.MapFS{"x.json": {Data: fmt.Appendf(nil, chat, c.at, c.more)}}
		got := strings.Join(tooltest.ScriptLines(tooltest.ReadEntries(t, claude.Tool{}, files)), "; ")
		if got != "c:; "+c.want+"; end[empty:1]" {
			t.Errorf("%s%s: %s, want %s", c.at, c.more, got, c.want)
		}
	}
}
