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

	// Grows reports whether a file is written from its beginning to its end, so that its
	// beginnings are read too. Nil for all but databases and archives.
	Grows func(name string) bool
}

// Run runs the suite.
func Run(t *testing.T, c Case) {
	if c.Name == "" {
		c.Name = "."
	}
	v := load(t, c)
	t.Run("Contract", func(t *testing.T) { v.contract(t) })
	t.Run("Again", func(t *testing.T) { v.again(t) })
	t.Run("Early", func(t *testing.T) { v.early(t) })
	t.Run("Cut", func(t *testing.T) { v.cut(t) })
	t.Run("Gone", func(t *testing.T) { v.gone(t) })
	t.Run("Prefixes", func(t *testing.T) { v.prefixes(t) })
	t.Run("Mutants", func(t *testing.T) { v.mutants(t) })
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

func load(t *testing.T, c Case) variant {
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

// with is the variant with another content of one file; nil takes the file away.
func (v variant) with(name string, data []byte) variant {
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

// names are the files, in order.
func (v variant) names() []string {
	var out []string
	for name := range v.files {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// bytes is the size of all files.
func (v variant) bytes() (n int) {
	for _, f := range v.files {
		n += len(f.Data)
	}
	return n
}

// place is the variant as a place.
func (v variant) place(t *testing.T) (transcript.Place, func()) {
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

// contract holds of the fixture as it is, at rest and live.
func (v variant) contract(t *testing.T) {
	p, done := v.place(t)
	defer done()
	for _, live := range []bool{false, true} {
		r := v.read(p, live)
		if r.err != nil {
			t.Fatalf("the list ends with %v", r.err)
		}
		if len(r.sessions) == 0 {
			t.Fatal("the fixture has no sessions")
		}
		for _, fault := range faults(r) {
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
	for _, s := range v.read(p, false).sessions {
		if _, err := fs.Stat(p.FS, s.Name); err != nil {
			t.Errorf("session %s is in %q, which is not there: %v", s.ID, s.Name, err)
		}
	}
}

// again reads the fixture twice.
func (v variant) again(t *testing.T) {
	p, done := v.place(t)
	defer done()
	first := v.read(p, false).String()
	second := v.read(p, false).String()
	if first != second {
		t.Errorf("read again it differs: %s", firstDifference(first, second))
	}
}

// early stops readers at each entry, and reads for a caller who is gone. A reader that
// goes on after it was stopped panics.
func (v variant) early(t *testing.T) {
	p, done := v.place(t)
	defer done()
	r := v.read(p, false)
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
