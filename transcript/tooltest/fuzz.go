package tooltest

import (
	"testing/fstest"
	"time"

	"github.com/scrollback-ai/scrollback/transcript"
)

// Faults are what breaks the contract when a tool reads one file of this content, at rest
// and live; for fuzzing.
func Faults(tool transcript.Tool, name string, content []byte) []string {
	files := fstest.MapFS{name: {Data: content, ModTime: time.UnixMilli(written), Mode: 0o644}}
	v := variant{Case: Case{Tool: tool, FS: files}, files: files}
	var out []string
	for _, live := range []bool{false, true} {
		out = append(out, faults(v.read(transcript.Place{FS: files, Name: ".", Now: written + day}, live))...)
	}
	return out
}
