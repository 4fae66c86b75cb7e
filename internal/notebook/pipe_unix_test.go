//go:build unix

package notebook

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// A pipe that nobody writes to is refused at once.
func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe.ipynb")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); scrollback.CodeOf(err) != scrollback.Invalid || !strings.Contains(err.Error(), "not a file") {
		t.Errorf("a pipe: %v", err)
	}
}
