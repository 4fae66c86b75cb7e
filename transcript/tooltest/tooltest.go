// Package tooltest is what every tool has to pass whose conversations can be read.
//
// Words it adds: case (a fixture and the tool that reads it), place as it was (the fixture
// in memory, with one time for all files), mutant (the fixture after a random change, the
// same in every run).
package tooltest

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"github.com/scrollback-ai/scrollback/transcript"
)

// Case is a fixture and what reads it.
type Case struct {
	Tool transcript.Tool
	FS   fs.FS  // the fixture: fstest.MapFS, os.DirFS of a folder in testdata
	Name string // of the place in it; empty for all of it

	Disk    bool // the tool opens files by their path: each variant is written to a folder
	Mutants int  // how many where tests are long, and else a tenth; 0 for 1500, or 150 on disk

	// NoIDs and NoTimes are the sessions whose files tell of no message what it is called, or when it was said. In all
	// others that have messages some have ids, and some have times.
	NoIDs, NoTimes []string

	// Grows reports whether a file is written from its beginning to its end, so that its
	// beginnings are read too. If it is nil, every file is, but for databases and zips.
	Grows func(name string) bool
}

// Run runs the suite.
func Run(t *testing.T, c Case) {
	if c.Name == "" {
		c.Name = "."
	}
	v := loadVariant(t, c)
	t.Run("Contract", func(t *testing.T) { v.testContract(t) })
	t.Run("Again", func(t *testing.T) { v.testAgain(t) })
	t.Run("Early", func(t *testing.T) { v.testEarly(t) })
	t.Run("Cut", func(t *testing.T) { v.testCut(t) })
	t.Run("Gone", func(t *testing.T) { v.testGone(t) })
	t.Run("Prefixes", func(t *testing.T) { v.testPrefixes(t) })
	t.Run("Mutants", func(t *testing.T) { v.testMutants(t) })
}

// written is when the files of a fixture were, in Unix ms.
const written = 1767225600000

// day is one in ms: long after the last change of a fixture.
const day = 24 * 60 * 60 * 1000

// variant is a fixture as it was, or changed.
type variant struct {
	Case
	files fstest.MapFS
}

func loadVariant(t *testing.T, c Case) variant {
	t.Helper()
	v := variant{Case: c, files: fstest.MapFS{}}
	err := fs.WalkDir(c.FS, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(c.FS, name)
		v.files[name] = &fstest.MapFile{Data: data, ModTime: time.UnixMilli(written), Mode: 0o644}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(v.files) == 0 {
		t.Fatal("the fixture is empty")
	}
	return v
}

// withFile returns the variant with another content of one file; nil takes the file away.
func (v variant) withFile(name string, data []byte) variant {
	files := fstest.MapFS{}
	for n, f := range v.files {
		if n != name {
			files[n] = f
		}
	}
	if data != nil {
		files[name] = &fstest.MapFile{Data: data, ModTime: time.UnixMilli(written), Mode: 0o644}
	}
	v.files = files
	return v
}

// fileNames returns the files, in order.
func (v variant) fileNames() []string {
	var out []string
	for name := range v.files {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// totalBytes returns the size of all files.
func (v variant) totalBytes() (n int) {
	for _, f := range v.files {
		n += len(f.Data)
	}
	return n
}

// openPlace returns the variant as a place.
func (v variant) openPlace(t *testing.T) (transcript.Place, func()) {
	p := transcript.Place{FS: v.files, Name: v.Name, Now: written + day}
	if !v.Disk {
		return p, func() {}
	}
	t.Helper()
	folder, err := os.MkdirTemp(t.TempDir(), "place")
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range v.files {
		at := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(at, f.ModTime, f.ModTime); err != nil {
			t.Fatal(err)
		}
	}
	p.FS = os.DirFS(folder)
	p.Path = folder
	return p, func() { _ = os.RemoveAll(folder) }
}

// testContract holds of the fixture as it is, at rest and live.
func (v variant) testContract(t *testing.T) {
	p, done := v.openPlace(t)
	defer done()
	for _, lost := range v.listLost(v.readPlace(p, false)) {
		t.Error(lost)
	}
	for _, live := range []bool{false, true} {
		r := v.readPlace(p, live)
		if r.err != nil {
			t.Fatalf("the list ends with %v", r.err)
		}
		if len(r.sessions) == 0 {
			t.Fatal("the fixture has no sessions")
		}
		for _, fault := range listFaults(r) {
			t.Errorf("live %v: %s", live, fault)
		}
		messages := 0
		for _, entries := range r.entries {
			for _, e := range entries {
				if len(e.Message.Parts) > 0 {
					messages++
				}
			}
		}
		if messages == 0 && !live {
			t.Error("the fixture has no messages")
		}
	}
	for _, s := range v.readPlace(p, false).sessions {
		if _, err := fs.Stat(p.FS, s.Name); err != nil {
			t.Errorf("session %s is in %q, which is not there: %v", s.ID, s.Name, err)
		}
	}
}

// testAgain reads the fixture twice.
func (v variant) testAgain(t *testing.T) {
	p, done := v.openPlace(t)
	defer done()
	first := v.readPlace(p, false).String()
	second := v.readPlace(p, false).String()
	if first != second {
		t.Errorf("read again it differs: %s", firstDifference(first, second))
	}
}

// testEarly stops readers at each entry, and reads for a caller who is gone. A reader that
// goes on after it was stopped panics.
func (v variant) testEarly(t *testing.T) {
	p, done := v.openPlace(t)
	defer done()
	r := v.readPlace(p, false)
	for n := range len(r.sessions) {
		for _, err := range v.Tool.Sessions(t.Context(), p) {
			if n--; n < 0 || err != nil {
				break
			}
		}
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	for i, s := range r.sessions {
		for n := range min(len(r.entries[i]), 300) {
			for _, err := range v.Tool.Read(t.Context(), p, s) {
				if n--; n < 0 || err != nil {
					break
				}
			}
		}
		for _, err := range v.Tool.Read(gone, p, s) {
			if err != nil {
				break
			}
		}
	}
}
