package geminicli_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/geminicli"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

const (
	begun  = `{"sessionId":"s-1","projectHash":"p","startTime":"2026-01-01T00:00:00.000Z","lastUpdated":"2026-01-01T00:00:00.000Z"}` + "\n"
	prompt = `{"id":"a","timestamp":"2026-01-01T00:00:00.000Z","type":"user","content":[{"text":"Read a.txt"}]}` + "\n"
	called = `{"id":"g1","timestamp":"2026-01-01T00:00:01.000Z","type":"gemini","content":"","model":"gemini-2.5-pro","toolCalls":[` +
		`{"id":"c1","name":"read_file","args":{"file_path":"a.txt"},"status":"executing"}]}` + "\n"
	answered = `{"id":"g1","timestamp":"2026-01-01T00:00:01.000Z","type":"gemini","content":"","model":"gemini-2.5-pro","toolCalls":[` +
		`{"id":"c1","name":"read_file","args":{"file_path":"a.txt"},"result":[{"functionResponse":{"id":"c1","name":"read_file",` +
		`"response":{"output":"hello"}}}],"status":"success"}]}` + "\n"
	told = `{"id":"g2","timestamp":"2026-01-01T00:00:03.000Z","type":"gemini",` +
		`"content":"The file says hello.","model":"gemini-2.5-pro"}` + "\n"
)

// place returns a home of the tool with a session; others' files in it are not its own.
func place(text string) fstest.MapFS {
	return fstest.MapFS{
		".gemini/tmp/p/chats/session-1.jsonl": {Data: []byte(text)},
		".gemini/tmp/p/.project_root":         {Data: []byte("/work/project\n")},
		".gemini/tmp/p/logs.json":             {Data: []byte(`{"sessionId":"no"}`)},
		".gemini/oauth_creds.json":            {Data: []byte(`{"sessionId":"no"}`)},
	}
}

// A home of the tool is read like any tool's.
func TestTool(t *testing.T) {
	t.Parallel()
	got := strings.Join(tooltest.ScriptLines(tooltest.ReadEntries(t, geminicli.Tool{}, place(begun+prompt+answered+told))),
		"; ")
	for _, want := range []string{"user | Read a.txt", "hello", "The file says hello.", "end"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
	tooltest.Run(t, tooltest.Case{Tool: geminicli.Tool{}, FS: place(begun + prompt + answered + told), Mutants: 100,
		Grows: func(name string) bool { return strings.HasSuffix(name, ".jsonl") }})
}

// While somebody may still be writing, a call without its result waits, and so does half a
// line.
func TestToolHoldsBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text     string
		messages int
		held     bool
	}{{begun + prompt + called, 1, true}, {begun + prompt + answered + told[:20], 1, true},
		{begun + prompt + answered + told, 4, false}} {
		p := transcript.Place{FS: place(c.text), Name: ".", Path: "/home/u", Now: 1000}
		n := 0
		held := false
		folder := ""
		bad := 0
		for s, err := range (geminicli.Tool{}).Sessions(t.Context(), p) {
			if err != nil {
				t.Fatal(err)
			}
			s.Changed = p.Now
			for e, err := range (geminicli.Tool{}).Read(t.Context(), p, s) {
				switch {
				case err != nil:
					t.Fatal(err)
				case e.Bad != nil:
					bad++
				case e.Conversation != nil:
					folder = e.Origin.Folder
				case e.End != nil:
					held = e.End.Held
				default:
					n++
				}
			}
		}
		if n != c.messages || held != c.held || bad != 0 || folder != "/work/project" {
			t.Errorf("%d messages, held %v, %d bad lines, in %q: %s", n, held, bad, folder, c.text)
		}
	}
}
