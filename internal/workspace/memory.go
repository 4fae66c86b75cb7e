package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
)

// Bounds of memory files.
const (
	maxHashed = 1 << 20  // bytes of one that are read
	maxShown  = 16 << 10 // bytes of one that a model is told
)

// memoryFile is a memory file and its head.
type memoryFile struct {
	scrollback.MemoryFile
	head string
}

// readMemoryFiles reads the memory files of a place: the person's own, then those of each root.
func (s *Snapshot) readMemoryFiles(p Place) {
	folders := p.Roots
	if p.UserFolder != "" {
		folders = append([]string{p.UserFolder}, p.Roots...)
	}
	seen := map[string]bool{}
	for _, folder := range folders {
		root, err := os.OpenRoot(folder)
		if err != nil {
			continue // the walk has noted a root that cannot be read
		}
		for _, name := range p.MemoryNames {
			at := filepath.Join(folder, name)
			if seen[at] {
				continue
			}
			seen[at] = true
			m, err := readMemory(root, name)
			switch {
			case errors.Is(err, fs.ErrNotExist):
			case err != nil:
				s.Notes = append(s.Notes, fmt.Sprintf("%s is not read: %s", at, explainError(err)))
			default:
				m.Path = at
				s.memory = append(s.memory, m)
				s.State.Memory = append(s.State.Memory, m.MemoryFile)
			}
		}
		// It was only read from.
		_ = root.Close()
	}
}

var errNoText = errors.New("it is no text")

// readMemory reads the head of a memory file. os.Root refuses links that leave it.
func readMemory(root *os.Root, name string) (m memoryFile, err error) {
	head, err := readHead(root, name, maxHashed)
	if err != nil {
		return m, err
	}
	info, err := root.Stat(name)
	if err != nil {
		return m, err
	}
	m.Bytes = info.Size()
	h := sha256.New()
	h.Write(head)
	if int64(len(head)) < m.Bytes {
		fmt.Fprintf(h, "\n%d bytes", m.Bytes)
	}
	m.SHA256 = hex.EncodeToString(h.Sum(nil))
	m.head = cutBytes(string(head), maxShown)
	if !utf8.ValidString(m.head) || containsNull(m.head) {
		return m, errNoText
	}
	return m, nil
}

func containsNull(s string) bool {
	for i := range len(s) {
		if s[i] == 0 {
			return true
		}
	}
	return false
}

// cutBytes is at most n bytes of s, between characters.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
