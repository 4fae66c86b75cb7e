package postgres

import (
	"maps"
	"slices"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// StatementLog opens databases and collects the statements that are run on them.
type StatementLog struct{ heard []*statementTracer }

// Open opens a database.
func (l *StatementLog) Open(t *testing.T, dsn string) *driver.Driver {
	t.Helper()
	d, h := openTraced(t, dsn)
	l.heard = append(l.heard, h)
	return d
}

// CheckPortable judges what was heard; see checkPortable.
func (l *StatementLog) CheckPortable(t *testing.T) {
	all := map[string]bool{}
	for _, h := range l.heard {
		h.mu.Lock()
		for text := range h.all {
			all[text] = true
		}
		h.mu.Unlock()
	}
	if len(all) < 150 {
		t.Errorf("only %d statements were heard: is this the suite?", len(all))
	}
	checkPortable(t, slices.Sorted(maps.Keys(all)))
}
