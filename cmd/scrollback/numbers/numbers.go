// Package numbers remembers which conversations the last list in a terminal showed: its
// numbers name these until the next list, however the order changes meanwhile.
//
// Words it adds: session (the terminal, or the script, that commands are typed in).
//
// Invariants: what cannot be kept or read is as if nothing had been listed; a file holds ids
// and nothing of what was said; what is old is forgotten, and its file removed.
//
// It knows neither flags nor the engine.
package numbers

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/scrollback-ai/scrollback"
)

// kept is how long a list is remembered.
const kept = 12 * time.Hour

// Numbers are those of the last list of one store in one session.
type Numbers struct {
	folder string
	file   string
	now    func() time.Time
}

// SessionNumbers returns the numbers of this session, kept in a folder, for a store that is named as it
// was set: its data folder and the address of its database.
func SessionNumbers(folder string, session int, store ...string) Numbers {
	sum := sha256.Sum256([]byte(fmt.Sprintf("%d %q", session, store)))
	return Numbers{folder: folder, file: filepath.Join(folder, hex.EncodeToString(sum[:12])+".json"), now: time.Now}
}

// RememberList remembers what a list showed, in its order.
func (n Numbers) RememberList(ids []scrollback.ConversationID) {
	if os.MkdirAll(n.folder, 0o700) != nil {
		return
	}
	n.removeOld()
	text, err := json.Marshal(ids)
	if err != nil {
		return
	}
	f, err := os.CreateTemp(n.folder, "new-*")
	if err != nil {
		return
	}
	_, err = f.Write(text)
	if f.Close() == nil && err == nil && os.Rename(f.Name(), n.file) == nil {
		return
	}
	os.Remove(f.Name())
}

// LastList returns what the last list showed; nil if nothing was listed.
func (n Numbers) LastList() []scrollback.ConversationID {
	info, err := os.Stat(n.file)
	if err != nil || n.now().Sub(info.ModTime()) > kept {
		return nil
	}
	text, err := os.ReadFile(n.file)
	if err != nil {
		return nil
	}
	var ids []scrollback.ConversationID
	if json.Unmarshal(text, &ids) != nil {
		return nil
	}
	return ids
}

// removeOld removes the files of lists that are old.
func (n Numbers) removeOld() {
	entries, err := os.ReadDir(n.folder)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && n.now().Sub(info.ModTime()) > kept {
			os.Remove(filepath.Join(n.folder, e.Name()))
		}
	}
}
