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
	mine := In(folder, 7, "data", "")
	other := In(folder, 8, "data", "")
	ids := []scrollback.ConversationID{"a", "b"}
	if mine.Keep(ids); !slices.Equal(mine.Last(), ids) {
		t.Errorf("a list is kept as %v", mine.Last())
	}
	if got := append(other.Last(), In(folder, 7, "elsewhere", "").Last()...); got != nil {
		t.Errorf("another terminal, or store, has the list %v", got)
	}
	later := mine
	later.now = func() time.Time { return time.Now().Add(kept + time.Minute) }
	if got := later.Last(); got != nil {
		t.Errorf("an old list is still %v", got)
	}
	later.forget()
	if left, err := os.ReadDir(folder); err != nil || len(left) != 0 {
		t.Errorf("of an old list is left: %v, %v", left, err)
	}
	// What cannot be kept or read is as if nothing had been listed.
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	nowhere := In(filepath.Join(file, "lists"), 7)
	if nowhere.Keep(ids); nowhere.Last() != nil {
		t.Errorf("a list without a folder is kept as %v", nowhere.Last())
	}
	mine.Keep(ids)
	if err := os.WriteFile(mine.file, []byte("{"), 0o600); err != nil || mine.Last() != nil {
		t.Errorf("a broken list is read as %v, %v", mine.Last(), err)
	}
}
