package sqlite

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// newPlace returns what says where a database is: a hash of the machine, the folder and the identity of the file. The
// machine's own id is nobody else's business. What of it the system does not tell is left out.
func newPlace(path string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		folder, err := filepath.Abs(filepath.Dir(path))
		if err == nil {
			folder, err = filepath.EvalSymlinks(folder)
		}
		var identity string
		if err == nil {
			identity, err = fileIdentity(path)
		}
		if err != nil {
			return "", scrollback.Wrap(scrollback.Unavailable, "sqlite.Open", err)
		}
		sum := sha256.Sum256([]byte(strings.Join([]string{machineID(), folder, identity}, "\x00")))
		return hex.EncodeToString(sum[:16]), nil
	}
}

// readFirst returns the content of the first of some files that can be read, without white space around it.
func readFirst(paths ...string) string {
	for _, path := range paths {
		if text, err := os.ReadFile(path); err == nil {
			return strings.TrimSpace(string(text))
		}
	}
	return ""
}
