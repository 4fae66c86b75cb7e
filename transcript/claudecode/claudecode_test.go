package claudecode_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/claudecode"
)

func TestDump(t *testing.T) {
	for _, dir := range strings.Fields(os.Getenv("DUMP")) {
		p := transcript.Place{FS: os.DirFS(dir), Name: ".", Now: 1 << 50}
		for s, err := range (claudecode.Tool{}).Sessions(context.Background(), p) {
			t.Log(s, err)
			for e, err := range (claudecode.Tool{}).Read(context.Background(), p, s) {
				switch {
				case err != nil:
					t.Log("ERR", err)
				case e.Conversation != nil:
					t.Logf("CONV %q %s %s %+v %+v", e.Conversation.Title, e.Conversation.Model, e.Conversation.Meta, e.Origin, e.Agent)
				case e.Bad != nil:
					t.Log("BAD", e.Bad)
				case e.Rewind != nil:
					t.Log("REWIND", *e.Rewind)
				case e.End != nil:
					t.Logf("END %+v", *e.End)
				default:
					s := ""
					for _, p := range e.Message.Parts {
						t := strings.ReplaceAll(strings.TrimSpace(strings.ReplaceAll(strings.Join(strings.Fields(sprint(p)), " "), "\n", " ")), "\n", "")
						s += " | " + t[:min(len(t), 90)]
					}
					t.Logf("%d %s %.6s %s %s %s %v", e.Line, e.Message.Role, e.Message.ID, e.Message.Status, s, e.Message.Meta, e.Message.Usage)
				}
			}
		}
	}
}

func sprint(v any) string { return fmt.Sprintf("%T%+v", v, v) }
