package openwebui_test

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback/transcript/openwebui"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

// An answer without a parent follows what was asked last; a second question without one is a
// second beginning only where no answer has lost its parent.
func TestLostParents(t *testing.T) {
	for name, c := range map[string]struct {
		history string
		want    []string
	}{
		"answers": {
			`"u1":{"id":"u1","role":"user","content":"Deep?","timestamp":1},"b1":{"id":"b1","role":"assistant","content":"Eight.","timestamp":1},
			 "u2":{"id":"u2","parentId":"b1","role":"user","content":"Long?","timestamp":3},
			 "a2":{"id":"a2","parentId":null,"role":"assistant","content":"Ninety.","timestamp":4}`,
			[]string{"user | Deep?", "assistant | Eight.", "user | Long?", "assistant | Ninety."},
		},
		"a question that is lost": {
			`"u1":{"id":"u1","role":"user","content":"Deep?","timestamp":1},"b1":{"id":"b1","parentId":"u1","role":"assistant","content":"Eight.","timestamp":2},
			 "a2":{"id":"a2","parentId":"u2","role":"assistant","content":"Ninety.","timestamp":4}`,
			[]string{"user | Deep?", "assistant | Eight.", "assistant | Ninety."},
		},
		"all": {
			`"u1":{"id":"u1","role":"user","content":"Deep?","timestamp":1},"b1":{"id":"b1","role":"assistant","content":"Eight.","timestamp":2},
			 "u2":{"id":"u2","role":"user","content":"Long?","timestamp":3},"a2":{"id":"a2","role":"assistant","content":"Ninety.","timestamp":4}`,
			[]string{"user | Deep?", "assistant | Eight.", "user | Long?", "assistant | Ninety."},
		},
		"an edited beginning": {
			`"u1":{"id":"u1","role":"user","content":"Deep?","timestamp":1},"b1":{"id":"b1","parentId":"u1","role":"assistant","content":"Eight.","timestamp":2},
			 "u2":{"id":"u2","role":"user","content":"Long?","timestamp":3},"a2":{"id":"a2","parentId":"u2","role":"assistant","content":"Ninety.","timestamp":4}`,
			[]string{"user | Deep?", "assistant | Eight.", "back to 0", "user | Long?", "assistant | Ninety."},
		},
	} {
		file := `[{"id":"x","title":"T","chat":{"title":"T","history":{"currentId":"a2","messages":{` + c.history +
			`}}},"created_at":1,"updated_at":4}]`
		got := tooltest.ScriptLines(tooltest.ReadEntries(t, openwebui.Tool{},
			fstest.MapFS{"chats.json": {Data: []byte(file)}}))
		if d := cmp.Diff(append(append([]string{"x: T"}, c.want...), "end"), got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
