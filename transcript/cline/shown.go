package cline

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"path"
	"strings"

	"github.com/scrollback-ai/scrollback/transcript"
)

// maxEmpty is how long a history without messages may be, in bytes.
const maxEmpty = 64

// readShown returns what the page of a task shows, a message after the other, if the history of what
// was sent to the model is there and empty, as Roo leaves it after a crash; nil if there is
// something in it.
func readShown(files fs.FS, dir string) []json.RawMessage {
	info, err := fs.Stat(files, path.Join(dir, apiFile))
	if err != nil || info.Size() > maxEmpty {
		return nil
	}
	raw, err := readSmall(files, path.Join(dir, apiFile))
	raw = bytes.TrimSpace(bytes.ReplaceAll(raw, []byte{0}, nil))
	if err != nil || len(raw) > 0 && string(raw) != "[]" {
		return nil
	}
	f, err := files.Open(path.Join(dir, uiFile))
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // it was only read
	var out []json.RawMessage
	for raw, err := range transcript.NewList(f, transcript.MaxLine).Items() {
		if err == nil {
			out = append(out, raw)
		}
	}
	return out
}

// emitShown tells what a task's page shows: what the person wrote, and what was said to them.
func (t *talkReader) emitShown(all []json.RawMessage) {
	first := true
	for _, raw := range all {
		m := objectFields(raw)
		words := strings.TrimSpace(readText(m["text"]))
		say := readText(m["say"])
		ask := readText(m["ask"])
		role := ""
		switch {
		case readBool(m["partial"]) || words == "":
		case say == "text" && first, say == "user_feedback":
			role = "user"
			first = false
		case say == "text", say == "completion_result", ask == "completion_result":
			role = "assistant"
		case ask == "followup":
			role = "assistant"
			if question := readText(objectFields(json.RawMessage(words))["question"]); question != "" {
				words = question
			}
		}
		if role == "" {
			if kind := say + ask; kind != "" {
				t.left["shown: "+kind[:min(len(kind), 40)]]++
			}
			continue
		}
		said, err := json.Marshal([]map[string]string{{"type": "text", "text": words}})
		if err != nil {
			continue // texts always can
		}
		element, err := json.Marshal(map[string]json.RawMessage{"role": json.RawMessage(`"` + role + `"`), "content": said,
			"ts": m["ts"]})
		if m["ts"] == nil || err != nil {
			element, _ = json.Marshal(map[string]json.RawMessage{"role": json.RawMessage(`"` + role + `"`), "content": said})
		}
		if !t.readElement(element) || t.r.gone {
			break
		}
	}
	t.finishTalk(nil)
}
