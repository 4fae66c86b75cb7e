package exported_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/librechat"
	"github.com/scrollback-ai/scrollback/transcript/openwebui"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

// webuiTalk returns a conversation of Open WebUI with n messages.
func webuiTalk(id string, n int) string {
	var messages []string
	for i := range n {
		parent := "null"
		if i > 0 {
			parent = fmt.Sprintf(`"%s-%d"`, id, i-1)
		}
		messages = append(messages, fmt.Sprintf(`"%s-%d":{"id":"%s-%d","parentId":%s,"role":"%s",`+
			`"content":"say %s-%d end","timestamp":%d}`, id, i, id, i, parent, []string{"user", "assistant"}[i%2], id, i, 100+i))
	}
	return fmt.Sprintf(`{"id":"%s","title":"T","chat":{"title":"T","history":{"currentId":"%s-%d","messages":{%s}}},`+
		`"created_at":1,"updated_at":4}`, id, id, n-1, strings.Join(messages, ","))
}

// libreTalk returns one of LibreChat.
func libreTalk(id string, n int) string {
	var messages []string
	for i := range n {
		parent := "00000000-0000-0000-0000-000000000000"
		if i > 0 {
			parent = fmt.Sprintf("%s-%d", id, i-1)
		}
		messages = append(messages, fmt.Sprintf(`{"messageId":"%s-%d","parentMessageId":"%s","isCreatedByUser":%v,`+
			`"text":"say %s-%d end","createdAt":"2026-01-01T00:00:0%dZ"}`, id, i, parent, i%2 == 0, id, i, i))
	}
	return fmt.Sprintf(`{"conversationId":"%s","title":"T","endpoint":"x","exportAt":"2026","messages":[%s]}`,
		id, strings.Join(messages, ","))
}

// A file of several conversations that is damaged at its end or in its middle loses what is damaged,
// and nothing else.
func TestDamagedExports(t *testing.T) {
	for _, c := range []struct {
		tool transcript.Tool
		talk func(id string, n int) string
		// A bracket too many ends a list of LibreChat's, and the conversation with it; in an object it is an error.
		bracket []string
	}{{openwebui.Tool{}, webuiTalk, nil}, {librechat.Tool{}, libreTalk, []string{"b-3", "b-4", "b-5"}}} {
		file := "[" + c.talk("a", 4) + ",\n" + c.talk("b", 6) + ",\n" + c.talk("c", 4) + "]"
		for name, d := range map[string]struct {
			file string
			lost []string
			bad  string
		}{
			"whole":           {file, nil, ""},
			"cut in the last": {file[:strings.Index(file, "say c-2")+3], []string{"c-2", "c-3"}, "early"},
			"cut in a middle": {file[:strings.Index(file, "say b-2")+3],
				[]string{"b-2", "b-3", "b-4", "b-5", "c-0", "c-1", "c-2", "c-3"}, "early"},
			"a message": {strings.Replace(file, `say b-2 end"`, `say b-2 end`, 1), []string{"b-2"}, "bytes"},
			"zeros": {strings.Replace(file, `say b-2 end"`, strings.Repeat("\x00", 12), 1), []string{"b-2"},
				"bytes"},
			"a bracket too many": {strings.Replace(file, `say b-2 end"`, `say b-2 end"}]`, 1), c.bracket, ""},
		} {
			got := strings.Join(tooltest.ScriptLines(tooltest.ReadEntries(t, c.tool,
				fstest.MapFS{"export.json": {Data: []byte(d.file)}})), "\n")
			for _, id := range []string{"a", "b", "c"} {
				for i := range map[string]int{"a": 4, "b": 6, "c": 4}[id] {
					m := fmt.Sprintf("%s-%d", id, i)
					lost := false
					for _, l := range d.lost {
						lost = lost || l == m
					}
					if has := strings.Contains(got, "say "+m+" end"); has == lost {
						t.Errorf("%s, %s: %s is there: %v", c.tool.Name(), name, m, has)
					}
				}
			}
			if bad := strings.Contains(got, "bad "); bad != (name != "whole") || !strings.Contains(got, d.bad) {
				t.Errorf("%s, %s: the damage is named: %v\n%s", c.tool.Name(), name, bad, got)
			}
			if lost := strings.Contains(got, "back to "); lost {
				t.Errorf("%s, %s: what follows the damage is cut off from what stands before it\n%s", c.tool.Name(), name, got)
			}
		}
	}
}
