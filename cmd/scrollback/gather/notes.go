package gather

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/collect"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
	"github.com/scrollback-ai/scrollback/internal/terminal/words"
)

// listNotes returns what the table does not say of a tool.
func listNotes(t words.Texts, f collect.Found) (notes []string) {
	for _, n := range []struct {
		n         int
		one, many i18n.ID
	}{
		{f.Excluded, i18n.CountOneExcluded, i18n.CountExcluded},
		{f.Deleted, i18n.CountOneDeletedHere, i18n.CountDeletedHere},
		{f.Held, i18n.CountOneHeld, i18n.CountHeld},
		{f.Gone, i18n.CountOneGoneThere, i18n.CountGoneThere},
		{f.Masked, i18n.CountOneMasked, i18n.CountMasked},
		{f.BadLines, i18n.CountOneLineSkipped, i18n.CountLinesSkipped},
		{f.Failed, i18n.CountFailed, i18n.CountFailed},
	} {
		if n.n > 0 {
			notes = append(notes, t.Count(int64(n.n), n.one, n.many))
		}
	}
	var left []string
	for _, kind := range slices.Sorted(maps.Keys(f.Left)) {
		left = append(left, columns.FormatThousands(int64(f.Left[kind]))+" "+columns.StripControls(kind))
	}
	if len(left) > 0 {
		notes = append(notes, t.Say(i18n.ImportNotTalk, strings.Join(left, ", ")))
	}
	return notes
}

// formatSize returns a number of bytes for a person.
func formatSize(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d KB", (n+1023)>>10)
}
