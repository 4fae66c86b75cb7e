package gather

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/collect"
	"github.com/scrollback-ai/scrollback/terminal/columns"
)

// notesOf is what the table does not say of a tool.
func notesOf(f collect.Found) (notes []string) {
	for _, n := range []struct {
		n         int
		one, many string
	}{{f.Excluded, "session excluded", "sessions excluded"},
		{f.Deleted, "session was deleted here", "sessions were deleted here"},
		{f.Held, "session has an answer that is not complete yet", "sessions have an answer that is not complete yet"},
		{f.Gone, "conversation is not there any more; it stays here", "conversations are not there any more; they stay here"},
		{f.Masked, "secret masked", "secrets masked"}, {f.BadLines, "line skipped", "lines skipped"},
		{f.Failed, "failed", "failed"}} {
		if n.n > 0 {
			notes = append(notes, counted(n.n, n.one, n.many))
		}
	}
	var left []string
	for _, kind := range slices.Sorted(maps.Keys(f.Left)) {
		left = append(left, columns.Thousands(int64(f.Left[kind]))+" "+columns.Plain(kind))
	}
	if len(left) > 0 {
		notes = append(notes, "not talk: "+strings.Join(left, ", "))
	}
	return notes
}

// sizeOf is a number of bytes for a person.
func sizeOf(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d KB", (n+1023)>>10)
}
