// Package foldertest makes folders for tests.
package foldertest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Fill makes files in a folder; a name that ends in a slash is a folder, a content that
// begins with "->" a link.
func Fill(t testing.TB, root string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		at := filepath.Join(root, name)
		err := os.MkdirAll(filepath.Dir(at), 0o755)
		switch target, link := strings.CutPrefix(content, "->"); {
		case err != nil:
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(at, 0o755)
		case link:
			err = os.Symlink(target, at)
		default:
			err = os.WriteFile(at, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
