package notebook

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// meddling is a disk on which somebody else writes a cell while a file is replaced.
type meddling struct {
	osDisk
	t    *testing.T
	name string
	left int
	said []string
}

func (m *meddling) Create(dir, pattern string) (temporary, error) {
	// The first file beside the notebook is the probe of whether it can be written.
	if strings.Contains(pattern, filepath.Base(m.name)) && m.left > 0 {
		m.left--
		other, err := Open(m.name)
		if err != nil {
			m.t.Fatal(err)
		}
		text := "theirs " + strconv.Itoa(len(m.said))
		if _, err := other.Append(text); err != nil {
			m.t.Fatal(err)
		}
		m.said = append(m.said, text)
	}
	return m.osDisk.Create(dir, pattern)
}

func texts(t *testing.T, name string) (out []string) {
	t.Helper()
	f, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range f.Cells() {
		out = append(out, c.Text)
	}
	return out
}

// What somebody else writes between the reading of a file and its replacement stays in it.
func TestOvertaken(t *testing.T) {
	for _, ext := range []string{".ipynb", ".mtm"} {
		for _, others := range []int{2, 3, 2 + mostTries} {
			name := filepath.Join(t.TempDir(), "a"+ext)
			f, err := New(name, "")
			if err != nil {
				t.Fatal(err)
			}
			m := &meddling{t: t, name: name, left: others}
			f.disk = m
			_, err = f.Append("ours")
			want := append(slices.Clone(m.said), "ours")
			code := scrollback.Code("")
			if others > mostTries {
				want = m.said
				code = scrollback.Conflict
			}
			if got := texts(t, name); scrollback.CodeOf(err) != code || !slices.Equal(got, want) {
				t.Errorf("%s, %d others: %v, and the file has %q, want %q", ext, others, err, got, want)
			}
			if left, err := os.ReadDir(filepath.Dir(name)); err != nil || len(left) != 1 {
				t.Errorf("%s: left %v (%v)", ext, left, err)
			}
		}
	}
}

// Only one has the lock, what came before is seen by the next, and nothing is left of it.
func TestLock(t *testing.T) {
	name := filepath.Join(t.TempDir(), strings.Repeat("潮", 80)+".mtm")
	if _, err := New(name, ""); err != nil {
		t.Fatal(err)
	}
	open := func() *File {
		f, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	one := open()
	two := open()
	release, err := one.Lock()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := two.Lock(); scrollback.CodeOf(err) != scrollback.Conflict {
		t.Errorf("a second lock: %v", err)
	}
	if _, err := one.Append("one"); err != nil {
		t.Fatal(err)
	}
	release()
	again, err := two.Lock()
	if err != nil || len(two.Cells()) != 1 {
		t.Fatalf("after the release: %v, with %d cells", err, len(two.Cells()))
	}
	release() // a second time, it lets nobody else's lock go
	if _, err := one.Lock(); scrollback.CodeOf(err) != scrollback.Conflict {
		t.Errorf("after the release of another's: %v", err)
	}
	again()
	if left, err := os.ReadDir(filepath.Dir(name)); err != nil || len(left) != 1 {
		t.Errorf("left %v (%v)", left, err)
	}
}
