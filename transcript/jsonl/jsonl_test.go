package jsonl_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/jsonl"
)

// read reads a file to its end: the conversation, its messages, and the bad lines.
func read(t *testing.T, file string) (c scrollback.Conversation, out []transcript.Entry, bad []transcript.Bad) {
	t.Helper()
	for e, err := range (jsonl.Format{}).Read(strings.NewReader(file)) {
		switch {
		case err != nil:
			t.Fatal(err)
		case e.Bad != nil:
			bad = append(bad, *e.Bad)
		case e.Conversation != nil:
			c = *e.Conversation
		default:
			if _, err := scrollback.ParseRole(string(e.Message.Role)); err != nil || e.Rewind != nil {
				t.Fatalf("%+v: %v", e, err)
			}
			out = append(out, e)
		}
	}
	return c, out, bad
}

// Half a line at the end, and lines that are none, are named; the others count.
func TestBadLines(t *testing.T) {
	_, out, bad := read(t,
		"\uFEFF{\"role\":\"user\",\"content\":\"one\"}\r\n\r\n{\"role\":\"robot\"}\n{\"role\":\"user\","+
			"\"content\":[{\"type\":\"image\",\"media_type\":\"image/png\",\"data\":\"?\"}]}\n{\"role\":\"assistant\",\"content\":\"two\"}"+
			"\n{\"role\":\"us")
	if len(out) != 2 || len(bad) != 3 || bad[0].Line != 3 || bad[1].Line != 4 || bad[2].Line != 6 {
		t.Errorf("%d messages, bad %+v", len(out), bad)
	}
}

// Whatever a file holds, it is read to its end, each line once, and what was read is
// written and read again as it was.
func FuzzRead(f *testing.F) {
	for _, s := range []string{"", "\n\n", `{"role":"user","content":"x"}`,
		`{"conversation":{"id":"a","title":"t","meta":{"k":1}}}` + "\n" +
			`{"role":"assistant","content":[{"type":"text","text":"y"}],"created_at":"2026-01-01T00:00:00Z","usage":{"input_tokens":3}}`,
		`{"role":"tool","content":[{"type":"tool_result","call_id":"c","name":"n","text":"t","is_error":true}],"created_at":1}`,
		`{"role":"user","content":[{"type":"file","name":"n","media_type":"text/plain","data":"eA=="}],"conversation_id":"z"}`,
		`{"role":"user","content":null}`, `[1]`, `{"role":"user","content":7}`, "{\"role\":\"user\",\"content\":\"\xff\"}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, file string) {
		c, first, bad := read(t, file)
		if lines := strings.Count(file, "\n") + 1; len(first)+len(bad) > lines {
			t.Fatalf("%d lines became %d messages and %d bad ones", lines, len(first), len(bad))
		}
		var out bytes.Buffer
		err := (jsonl.Format{}).Write(&out, c, func(yield func(transcript.Entry, error) bool) {
			for _, e := range first {
				if !yield(e, nil) {
					return
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		_, again, bad := read(t, out.String())
		for i := range first {
			first[i].Line = 0
			first[i].Source = ""
		}
		for i := range again {
			again[i].Line = 0
			again[i].Source = ""
		}
		if d := cmp.Diff(first, again, cmpopts.EquateEmpty()); d != "" || len(bad) > 0 {
			t.Fatalf("bad %v; written and read again (-was +is):\n%s", bad, d)
		}
	})
}
