package tooltest

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/transcript"
)

// small is up to how many bytes each beginning of a file is read, not each line.
const small = 3 << 10

// beginnings is how many beginnings of a file are read at most.
const beginnings = 250

// testPrefixes reads the beginnings of each file while it is live: what they say is the
// beginning of what the whole says, on its path or on one of its branches. An importer
// that follows a growing file then never makes a branch.
func (v variant) testPrefixes(t *testing.T) {
	whole := v.pathTips(t, false)
	for _, name := range v.fileNames() {
		if !v.mayGrow(name) {
			continue
		}
		data := v.files[name].Data
		for _, n := range prefixLengths(data) {
			for source, tips := range v.withFile(name, slices.Clone(data[:n])).pathTips(t, true) {
				for _, tip := range tips {
					if !startsOne(tip, whole[source]) {
						t.Errorf("%s at byte %d of %d: %s says\n%s\nwhich is not the beginning of\n%s", name, n, len(data), source,
							strings.Join(tip, "\n"), strings.Join(slices.Concat(whole[source]...), "\n"))
						return
					}
				}
			}
		}
	}
}

func (v variant) mayGrow(name string) bool {
	if v.Grows != nil {
		return v.Grows(name)
	}
	switch path.Ext(name) {
	case ".db", ".sqlite", ".db-wal", ".db-shm", ".zip", ".png", ".jpg":
		return false
	}
	return true
}

// prefixLengths returns the lengths of the beginnings to read: each for a small file, else each line,
// whole and torn.
func prefixLengths(data []byte) []int {
	var all []int
	if len(data) <= small {
		for n := range len(data) + 1 {
			all = append(all, n)
		}
	} else {
		for at := 0; at < len(data); {
			n := bytes.IndexByte(data[at:], '\n') + 1
			if n == 0 {
				n = len(data) - at
			}
			all = append(all, at+n/2, at+n-1, at+n)
			at += n
		}
		for i := 1; i < beginnings/4; i++ { // for files of one line
			all = append(all, len(data)*i/(beginnings/4))
		}
		slices.Sort(all)
		all = slices.Compact(all)
	}
	for len(all) > beginnings {
		var fewer []int
		for i, n := range all {
			if i%2 == 0 || i == len(all)-1 {
				fewer = append(fewer, n)
			}
		}
		all = fewer
	}
	return all
}

// pathTips returns the paths that each source says, up to a rewind or the end.
func (v variant) pathTips(t *testing.T, live bool) map[string][][]string {
	t.Helper()
	p, done := v.openPlace(t)
	defer done()
	r := v.readPlace(p, live)
	for _, fault := range listFaults(r) {
		t.Errorf("live %v: %s", live, fault)
	}
	if t.Failed() {
		t.FailNow()
	}
	out := map[string][][]string{}
	for _, entries := range r.entries {
		paths := map[string][]string{}
		for _, e := range entries {
			switch {
			case e.Bad != nil || e.Conversation != nil || e.End != nil:
			case e.Rewind != nil:
				out[e.Source] = append(out[e.Source], slices.Clone(paths[e.Source]))
				paths[e.Source] = slices.Clone(paths[e.Source][:*e.Rewind])
			default:
				paths[e.Source] = append(paths[e.Source], entryMark(t, e))
			}
		}
		for source, path := range paths {
			out[source] = append(out[source], path)
		}
	}
	return out
}

// entryMark returns what an import knows a message by, and how it begins.
func entryMark(t *testing.T, e transcript.Entry) string {
	raw, err := transcript.ImportMark(e)
	if err != nil {
		t.Fatal(err)
	}
	text := messageLine(e.Message)
	return transcript.MarkOf(raw) + " " + string(e.Message.ID) + " " + text[:min(len(text), 120)]
}

func startsOne(tip []string, all [][]string) bool {
	if len(tip) == 0 {
		return true
	}
	return slices.ContainsFunc(all, func(whole []string) bool {
		return len(tip) <= len(whole) && slices.Equal(tip, whole[:len(tip)])
	})
}
