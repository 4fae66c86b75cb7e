package transfer_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

func exported(t *testing.T, r *enginetest.Rig, id scrollback.ConversationID, format string) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.Export(context.Background(), id, transfer.ExportRequest{Format: format}, &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// everything adds to a conversation what a notebook has to hold: a picture, a file, calls
// and their results, and reasoning.
func everything(t *testing.T) (*enginetest.Rig, scrollback.ConversationID) {
	t.Helper()
	ctx := context.Background()
	r, id := rich(t)
	a, err := r.Upload(ctx, id, strings.NewReader("attached: the tide turns"), "tide.txt")
	if err != nil {
		t.Fatal(err)
	}
	r.Run(engine.TurnRequest{Conversation: id, Message: scrollback.Parts{scrollback.Text{Text: "see ![x](y)"},
		r.UploadImage(id, 1), scrollback.File{Artifact: a.ID, Name: "tide.txt"},
		scrollback.Text{Text: "and <content_reference>"}}},
	).WantDone(t, scrollback.TurnComplete, "stop")
	file := `{"role":"user","content":"use it"}
{"role":"assistant","content":[{"type":"reasoning","text":"想","opaque":{"sig":"s"}},{"type":"text","text":"I call"},` +
		`{"type":"tool_call","id":"c1","name":"read","arguments":{"p": 1.50}},{"type":"tool_call","id":"c2","name":"read","arguments":{}}]}
{"role":"tool","content":[{"type":"tool_result","call_id":"c1","name":"read","text":"` + strings.Repeat("long ", 4000) + `"},` +
		`{"type":"tool_result","call_id":"c2","name":"read","text":"no","is_error":true}]}
{"role":"system","content":"**System**: S"}
{"role":"assistant","content":"done","model":"x/y","usage":{"input_tokens":3,"output_tokens":4}}
`
	out, err := r.Import(ctx, strings.NewReader(file), transfer.ImportRequest{Into: id})
	if err != nil || out.Conversations[0].Messages != 5 {
		t.Fatalf("%+v, %v", out, err)
	}
	r.Ask(id, "the last question").WantDone(t, scrollback.TurnComplete, "stop")
	return r, id
}

// said returns the messages of a conversation, without what an import marks them with.
func said(t *testing.T, r *enginetest.Rig, id scrollback.ConversationID) string {
	t.Helper()
	var out []string
	for line := range strings.Lines(exported(t, r, id, "jsonl")) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		delete(m, "id")
		if m["conversation"] != nil {
			continue
		}
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(b))
	}
	return strings.Join(out, "\n")
}

// A notebook that is exported brings nothing new here, and elsewhere the same conversation,
// once; what somebody adds to the file is added.
func TestNotebookThereAndBack(t *testing.T) {
	for _, format := range []string{"mtm", "ipynb"} {
		r, id := everything(t)
		was := stands(t, r, id)
		path := said(t, r, id)
		file := exported(t, r, id, format)
		comesBack(t, r, id, file, 0)
		if now := stands(t, r, id); now != was {
			t.Errorf("%s: the import moved it to %+v", format, now)
		}
		other := enginetest.New(t, enginetest.Options{Limit: 4000, NoFolds: true}, modeltest.Say("a"))
		var there scrollback.ConversationID
		for i, messages := range []int64{int64(len(r.Log(id))), 0} {
			out, err := other.ImportText(file)
			if err != nil || len(out.Skipped) > 0 || len(out.Conversations) != 1 || out.Conversations[0].Messages != messages {
				t.Fatalf("%s, import %d: %+v, %v", format, i, out, err)
			}
			there = out.Conversations[0].ID
			if now := said(t, other, there); now != path {
				t.Errorf("%s, import %d: it says\n%s\nnot\n%s", format, i, now, path)
			}
		}
		c, err := other.Get(context.Background(), there)
		if err != nil || c.Title != "钥匙 & keys" || c.Instructions != "Be <brief>." || len(c.Roots) > 0 ||
			string(c.Meta) != `{"a":{"b":1}}` {
			t.Errorf("%s: %+v, %v", format, c, err)
		}
		if again := exported(t, other, there, format); strings.Count(again, `"role"`) != strings.Count(file, `"role"`) {
			t.Errorf("%s: exported from there it is\n%s", format, again)
		}
		other.Ask(there, "more").WantDone(t, scrollback.TurnComplete, "stop")
		more := strings.ReplaceAll(exported(t, other, there, format), string(there), string(id))
		comesBack(t, r, id, more, 2)
	}
}

// A notebook of another program is a conversation of its own, known by its id or by its
// bytes, and what it asks for is not granted.
func TestForeignNotebook(t *testing.T) {
	for format, file := range map[string]string{
		"mtm": `{"metadata":{"uuid":"../x","name":"N","allowed_uris":["/"]},"context":[{"role":"user","content":"q"},
{"role":"assistant","content":"a","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{"}}]},
{"role":"tool","tool_call_id":"1","content":"r"},{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]},7]}`,
		"ipynb": `{"cells":[{"cell_type":"code","source":["q"],"outputs":[],"execution_count":null,"metadata":{"mutsumi_interaction":[{"role":"assistant",
"content":"a","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{"}}]},{"role":"tool","tool_call_id":"1","content":"r"}]}},
{"cell_type":"markdown","source":"![x](attachment:x)","attachments":{"x":{"image/png":"AAAA"}}},{"cell_type":"raw","source":"r"},
7],"metadata":{"title":"N"},"nbformat":4,"nbformat_minor":4}`} {
		r := enginetest.New(t, enginetest.Options{}, modeltest.Say("a"))
		for i, messages := range []int64{4, 0} {
			out, err := r.ImportText(file)
			if err != nil || len(out.Conversations) != 1 || out.Conversations[0].Messages != messages || len(out.Skipped) != 1 {
				t.Fatalf("%s, import %d: %+v, %v", format, i, out, err)
			}
			c, err := r.Get(context.Background(), out.Conversations[0].ID)
			if err != nil || c.Title != "N" || len(c.Roots) > 0 || c.Messages != 4 {
				t.Errorf("%s: %+v, %v", format, c, err)
			}
		}
	}
}

// A notebook that cannot be read is named with the place, and nothing is made.
func TestBrokenNotebook(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("a"))
	for _, file := range []string{"{\"cells\": [\n  {\"cell_type\": \"code\", x",
		"{\"metadata\": {}, \"context\": [\n  {]"} {
		_, err := r.ImportText(file)
		if scrollback.CodeOf(err) != scrollback.Invalid || !strings.Contains(err.Error(), "line 2: column ") {
			t.Errorf("%q: %v", file, err)
		}
	}
}
