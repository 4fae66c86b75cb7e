package mask_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/mask"
)

// key looks like a token; it is put together so that no scanner finds one here.
const key = "ghp" + "_0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX"

// full returns an entry that has the token wherever something reaches the log, the index or an
// artifact.
func full() transcript.Entry {
	object := json.RawMessage(`{"a": "` + key + `", "n": 1.50}`)
	said := "it is " + key + "."
	return transcript.Entry{
		Source:       "s",
		Conversation: &scrollback.Conversation{Title: said, Instructions: said, Meta: object, Model: "m"},
		Origin:       &scrollback.Origin{ID: "o", Folder: "/home/me/" + said, GitBranch: "feature/" + key},
		Message: scrollback.Message{ID: "1", Role: scrollback.RoleAssistant, Name: said, Meta: object,
			Parts: scrollback.Parts{
				scrollback.Text{Text: said, Opaque: object,
					Reference: &scrollback.Reference{Mark: said, Source: said, Note: said, Error: said}},
				scrollback.Reasoning{Text: said, Opaque: object},
				scrollback.ToolCall{ID: "c", Name: "sh", Arguments: object, Opaque: object},
				scrollback.ToolResult{CallID: "c", Name: "sh", Text: said, Opaque: object},
				scrollback.Image{Name: said, URL: "https://host/?x=" + key, Opaque: object},
				scrollback.File{Name: said, Opaque: object},
			}},
		Bytes: map[int][]byte{4: []byte("\x89PNG\x00" + key), 5: []byte(`{"token": "` + key + `"}`)},
		Turns: []scrollback.TurnEntry{{
			Content: said, Reasoning: said, ToolCalls: []scrollback.ToolCall{{Arguments: object, Opaque: object}},
			Error: &scrollback.Failure{Message: said},
		}},
		Bad: &transcript.Bad{Line: 1, Reason: said},
	}
}

func TestEntry(t *testing.T) {
	e := full()
	kept := full()
	was := e // shares all that is behind pointers
	n := mask.MaskEntry(&e)
	if n != 31 {
		t.Errorf("%d were found", n)
	}
	if !reflect.DeepEqual(was, kept) {
		t.Error("what the reader still holds was changed")
	}
	for _, p := range e.Message.Parts {
		if raw := fmt.Sprintf("%+v", p); strings.Contains(raw, key) {
			t.Errorf("%T still has it: %s", p, raw)
		}
	}
	image := e.Bytes[4]
	delete(e.Bytes, 4)
	raw, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), key) {
		t.Errorf("it is still there: %s", raw)
	}
	if string(image) != "\x89PNG\x00"+key {
		t.Error("an image was changed")
	}
	if got := string(e.Bytes[5]); got != `{"token": "[masked: github token]"}` {
		t.Error(got)
	}
	call := e.Message.Parts.Calls()[0]
	if string(call.Arguments) != `{"a": "[masked: github token]", "n": 1.50}` || call.ID != "c" {
		t.Errorf("%+v", call)
	}
	if r, ok := e.Message.Parts[1].(scrollback.Reasoning); !ok || r.Opaque != nil {
		t.Errorf("the payload of what was thought stays, and signs another text: %+v", r)
	}
	again := e
	if n := mask.MaskEntry(&again); n != 0 || !reflect.DeepEqual(e, again) {
		t.Errorf("masked again, %d were found", n)
	}
}

// An entry without secrets stays as it is.
// A file of text is masked in encodings other than UTF-8 too.
func TestOtherEncodings(t *testing.T) {
	e := transcript.Entry{
		Message: scrollback.Message{Role: scrollback.RoleUser, Parts: scrollback.Parts{
			scrollback.File{MediaType: "text/plain", Name: "a.txt"},
			scrollback.File{MediaType: "application/octet-stream", Name: "b"}}},
		Bytes: map[int][]byte{0: []byte("caf\xe9 " + key), 1: []byte("\xff\xfe" + key)},
	}
	n := mask.MaskEntry(&e)
	if text := string(e.Bytes[0]); n != 1 || strings.Contains(text, key) || !strings.HasPrefix(text, "caf\xe9 ") {
		t.Errorf("%d were found: %q", n, text)
	}
	if string(e.Bytes[1]) != "\xff\xfe"+key {
		t.Errorf("what does not say that it is text was changed: %q", e.Bytes[1])
	}
}

func TestNothing(t *testing.T) {
	for _, e := range []transcript.Entry{
		{}, {Source: "s", End: &transcript.End{}},
		{Source: "s", Message: scrollback.Message{Role: "user", Parts: scrollback.Say("hello")}},
		{Message: scrollback.Message{Parts: scrollback.Parts{scrollback.Reasoning{Text: "x",
			Opaque: json.RawMessage(`{"s":"y"}`)}}}},
	} {
		was := e
		if n := mask.MaskEntry(&e); n != 0 || !reflect.DeepEqual(was, e) {
			t.Errorf("%d were found, and it is %+v", n, e)
		}
	}
}
