package numbers

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
)

func TestNumbers(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "lists")
	mine := SessionNumbers(folder, 7, "data", "")
	other := SessionNumbers(folder, 8, "data", "")
	ids := []scrollback.ConversationID{"a", "b"}
	if mine.RememberList(ids); !slices.Equal(mine.LastList(), ids) {
		t.Errorf("a list is kept as %v", mine.LastList())
	}
	if got := append(other.LastList(), SessionNumbers(folder, 7, "elsewhere", "").LastList()...); got != nil {
		t.Errorf("another terminal, or store, has the list %v", got)
	}
	later := mine
	later.now = func() time.Time { return time.Now().Add(kept + time.Minute) }
	if got := later.LastList(); got != nil {
		t.Errorf("an old list is still %v", got)
	}
	later.removeOld()
	if left, err := os.ReadDir(folder); err != nil || len(left) != 0 {
		t.Errorf("of an old list is left: %v, %v", left, err)
	}
	// What cannot be kept or read is as if nothing had been listed.
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	nowhere := SessionNumbers(filepath.Join(file, "lists"), 7)
	if nowhere.RememberList(ids); nowhere.LastList() != nil {
		t.Errorf("a list without a folder is kept as %v", nowhere.LastList())
	}
	mine.RememberList(ids)
	if err := os.WriteFile(mine.file, []byte("{"), 0o600); err != nil || mine.LastList() != nil {
		t.Errorf("a broken list is read as %v, %v", mine.LastList(), err)
	}
}
