package codex_test

import (
	"encoding/json"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript/codex"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

// promptOf returns a rollout in which a person says something in some elements, with the event that
// repeats it, and is answered.
func promptOf(t *testing.T, event bool, elements ...string) fstest.MapFS {
	t.Helper()
	const thread = "019ca000-0091-7000-8000-0000000000aa"
	out := ""
	line := func(kind string, payload any) {
		raw, err := json.Marshal(map[string]any{"timestamp": "2026-03-01T12:00:05.000Z", "type": kind, "payload": payload})
		if err != nil {
			t.Fatal(err)
		}
		out += string(raw) + "\n"
	}
	line("session_meta", map[string]any{"id": thread, "timestamp": "2026-03-01T12:00:00.000Z", "cwd": "/w"})
	var content []map[string]any
	all := ""
	for _, text := range elements {
		if text == "IMAGE" {
			content = append(content, map[string]any{"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="})
			continue
		}
		content = append(content, map[string]any{"type": "input_text", "text": text})
		all += text
	}
	line("response_item", map[string]any{"type": "message", "role": "user", "content": content})
	if event {
		line("event_msg", map[string]any{"type": "user_message", "message": all})
	}
	done := []any{map[string]any{"type": "output_text", "text": "Done"}}
	line("response_item", map[string]any{"type": "message", "role": "assistant", "content": done})
	return fstest.MapFS{"sessions/2026/03/01/rollout-2026-03-01T12-00-00-" + thread + ".jsonl": {Mode: 0o644,
		Data: []byte(out)}}
}

// What an editor or the app puts before a prompt is no talk; the prompt is, whatever it says.
func TestRequestInItsEnvelope(t *testing.T) {
	const ide = "# Context from my IDE setup:\n\n## Active file: a.go\n\n## Open tabs:\n- a.go: src/a.go\n- b.go: src/b.go\n\n"
	for name, c := range map[string]struct {
		in   []string
		want []string
	}{
		"an editor": {
			[]string{ide + "## My request for Codex:\nmend the test"},
			[]string{"mend the test", "Done"},
		},
		"lines end otherwise": {
			[]string{"# Context from my IDE setup:\r\n\r\n## My request for Codex:\r\nmend it\r\nnow"},
			[]string{"mend it\r\nnow", "Done"},
		},
		"a selection": {
			[]string{"\n# Selected text:\n\n## Selection 1\nx := 1\n\n## My request for Codex:\nwhy 1?\n"},
			[]string{"why 1?", "Done"},
		},
		"files, newer": {
			[]string{"\n# Files mentioned by the user:\n\n## a.png: /tmp/a.png\n\nDistinguish instructions.\n\n## My request:\nlook"},
			[]string{"look", "Done"},
		},
		"another name": {[]string{ide + "## My request for ChatGPT:\nlook"}, []string{"look", "Done"}},
		"a browser": {
			[]string{`<in-app-browser-context source="x">` + "\n…\n</in-app-browser-context>\n\n## My request:\nlook"},
			[]string{"look", "Done"},
		},
		"annotations": {
			[]string{"# Response annotations:\n<response-annotations>\n[]\n</response-annotations>\n\n## My request:\nlook"},
			[]string{"look", "Done"},
		},
		"elements of their own": {
			[]string{ide + "## My request for Codex:\n", "mend the test"},
			[]string{"mend the test", "Done"},
		},
		"a request with headings": {
			[]string{ide + "## My request for Codex:\n# Plan\n## My request:\nsay it twice"},
			[]string{"# Plan\n## My request:\nsay it twice", "Done"},
		},
		"an image without words": {
			[]string{"# Files mentioned by the user:\n\n## a.png: /tmp/a.png\n\n## My request for Codex:\n\n", "IMAGE"},
			[]string{"", "Done"},
		},
		"beside where it works": {
			[]string{"<environment_context>\n  <cwd>/w</cwd>\n</environment_context>\n\nmend the test"},
			[]string{"mend the test", "Done"},
		},
		"an element beside instructions and where it works": {
			[]string{"# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nTabs.\n</INSTRUCTIONS>",
				"<environment_context>\n  <cwd>/w</cwd>\n</environment_context>", "mend the test"},
			[]string{"mend the test", "Done"},
		},
		"an envelope alone":  {[]string{ide}, []string{"Done"}},
		"no mark, but words": {[]string{ide + "mend the test"}, []string{ide + "mend the test", "Done"}},
		"a person's own headings": {
			[]string{"# Plan\n\n## My request:\nread this"},
			[]string{"# Plan\n\n## My request:\nread this", "Done"},
		},
		"words about the envelope": {
			[]string{"why is it titled Context from my IDE setup?"},
			[]string{"why is it titled Context from my IDE setup?", "Done"},
		},
		"in a sentence": {
			[]string{"ignore\n## My request for Codex:\nin this log"},
			[]string{"ignore\n## My request for Codex:\nin this log", "Done"},
		},
	} {
		for _, event := range []bool{true, false} {
			var got []string
			for _, e := range tooltest.ReadEntries(t, codex.Tool{}, promptOf(t, event, c.in...)) {
				if len(e.Message.Parts) > 0 {
					got = append(got, e.Message.Parts.Text())
				}
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("%s, event %v: %s", name, event, d)
			}
		}
	}
	files := promptOf(t, true, "# Files mentioned by the user:\n\n## My request for Codex:\n", "IMAGE")
	for _, e := range tooltest.ReadEntries(t, codex.Tool{}, files) {
		for i, p := range e.Message.Parts {
			if _, image := p.(scrollback.Image); image && len(e.Bytes[i]) == 0 {
				t.Error("the image lost its bytes")
			}
		}
	}
}
