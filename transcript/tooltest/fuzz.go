package tooltest

import (
	"testing/fstest"
	"time"

	"github.com/scrollback-ai/scrollback/transcript"
)

// FindFaults returns what breaks the contract when a tool reads one file of this content, at rest
// and live; for fuzzing.
func FindFaults(tool transcript.Tool, name string, content []byte) []string {
	files := fstest.MapFS{name: {Data: content, ModTime: time.UnixMilli(written), Mode: 0o644}}
	v := variant{Case: Case{Tool: tool, FS: files}, files: files}
	var out []string
	for _, live := range []bool{false, true} {
		out = append(out, listFaults(v.readPlace(transcript.Place{FS: files, Name: ".", Now: written + day}, live))...)
	}
	return out
}
