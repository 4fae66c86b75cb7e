//go:build unix

package local_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// What is ours is closed to others; a folder that holds something else is left as it is.
func TestClosedToOthers(t *testing.T) {
	for _, foreign := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "data [1]")
		sb := open(t, dir, nil)
		create(t, sb, scrollback.Conversation{})
		if err := sb.Close(); err != nil {
			t.Fatal(err)
		}
		stranger := filepath.Join(dir, "diary.txt")
		if foreign {
			if err := os.WriteFile(stranger, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for name, mode := range map[string]fs.FileMode{".": 0o755, "scrollback.db": 0o664, "objects": 0o775} {
			if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
				t.Fatal(err)
			}
		}
		create(t, open(t, dir, nil), scrollback.Conversation{})
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			want := fs.FileMode(0)
			if foreign && path == dir || path == stranger {
				want = info.Mode() & 0o077
				if want == 0 {
					t.Errorf("%s is not ours to close", path)
				}
			}
			if got := info.Mode() & 0o077; got != want {
				t.Errorf("%s: others may %v", path, info.Mode())
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
