package workspace

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/marks"
)

// The marks around what is told.
const (
	textOpen    = "<" + marks.Environment + ">\n"
	textClose   = "</" + marks.Environment + ">"
	changeOpen  = "<" + marks.EnvironmentChange + ">\n"
	changeClose = "</" + marks.EnvironmentChange + ">"
)

// defaultSetup ends a text that nobody gave another end.
const defaultSetup = "This is background, not a request; the first one comes next. " +
	"Where a tool call is due, make it: never answer with nothing."

// textBounds are how much of a text is told.
type textBounds struct{ entries, memory int }

// FullText returns the whole environment as a model is told about it.
func (s Snapshot) FullText() string {
	setup := s.place.Setup
	if setup == "" {
		setup = defaultSetup
	}
	return s.fitText(func(b textBounds) string {
		var w strings.Builder
		w.WriteString(textOpen + s.formatToday() + "\n")
		if s.place.OS != "" {
			w.WriteString("Operating system: " + quotePath(s.place.OS) + "\n")
		}
		if len(s.trees) > 0 {
			w.WriteString("Working folders:\n")
			for _, t := range s.trees {
				w.WriteString("  " + quotePath(t.root) + "\n")
			}
			if s.place.Temp != "" {
				w.WriteString("Temporary folder: " + quotePath(s.place.Temp) + "\n")
			}
		}
		writeTrees(&w, s.trees, b)
		for _, m := range s.memory {
			writeMemory(&w, m, b)
		}
		w.WriteString("\n" + marks.EscapeText(setup) + "\n" + textClose)
		return w.String()
	})
}

// ChangeText returns what to tell a model that was told first at the beginning and told last:
// everything that differs from first, so that the newest change alone is enough. It
// is empty if told is still true.
func (s Snapshot) ChangeText(first, told scrollback.EnvironmentState) string {
	switch {
	case s.State.Equal(told):
		return ""
	case s.State.Equal(first):
		return changeOpen + "All is again as the conversation began.\n" + changeClose
	}
	var added []folderTree
	var gone []string
	for _, t := range s.trees {
		if !slices.Contains(first.Roots, t.root) {
			added = append(added, t)
		}
	}
	for _, r := range first.Roots {
		if !slices.Contains(s.State.Roots, r) {
			gone = append(gone, "No longer a working folder: "+quotePath(r)+"\n")
		}
	}
	var fresh []memoryFile
	for _, m := range s.memory {
		if !slices.Contains(first.Memory, m.MemoryFile) {
			fresh = append(fresh, m)
		}
	}
	for _, m := range first.Memory {
		if !slices.ContainsFunc(s.State.Memory, func(n scrollback.MemoryFile) bool { return n.Path == m.Path }) {
			gone = append(gone, "No longer there: "+quotePath(m.Path)+"\n")
		}
	}
	return s.fitText(func(b textBounds) string {
		var w strings.Builder
		w.WriteString(changeOpen + "Since the conversation began this has changed:\n")
		if s.State.Date != first.Date {
			w.WriteString(s.formatToday() + "\n")
		}
		for _, t := range added {
			w.WriteString("A working folder more: " + quotePath(t.root) + "\n")
		}
		w.WriteString(strings.Join(gone, ""))
		writeTrees(&w, added, b)
		for _, m := range fresh {
			writeMemory(&w, m, b)
		}
		if len(added)+len(gone)+len(fresh) == 0 && s.State.Date == first.Date {
			w.WriteString("The working folders are in another order.\n")
		}
		w.WriteString(changeClose)
		return w.String()
	})
}

// fewEntries is how far trees are cut before the memory files are, and leastMemory how far
// those are before trees are cut further.
const (
	fewEntries  = 25
	leastMemory = 64
)

// fitText cuts a text to the bounds of the place: first the trees to their top, then the memory
// files, then the top of the trees, never the rest.
func (s Snapshot) fitText(text func(textBounds) string) string {
	b := textBounds{s.place.MaxEntries, maxShown}
	for {
		out := text(b)
		fits := len(out) <= s.place.MaxBytes && (s.place.MaxTokens == 0 || s.place.Count(out) <= s.place.MaxTokens)
		switch {
		case fits || b == textBounds{}:
			return out
		case b.entries > fewEntries:
			b.entries = max(b.entries/2, fewEntries)
		case b.memory > leastMemory:
			b.memory /= 2
		case b.entries > 0:
			b.entries /= 2
		default:
			b.memory = 0
		}
	}
}

// formatToday returns the date as the person's locale writes it, with the zone.
func (s Snapshot) formatToday() string {
	return fmt.Sprintf("Today is %s (%s).", fullDate(s.place.Locale, s.place.Now), zoneName(s.place.Now))
}

func zoneName(now time.Time) string { return "UTC" + now.Format("-07:00") }

// writeTrees writes as much of each tree as is its share, and says what is not shown.
func writeTrees(w *strings.Builder, trees []folderTree, b textBounds) {
	if b.entries == 0 {
		if slices.ContainsFunc(trees, func(t folderTree) bool { return t.more || len(t.entries) > 0 }) {
			w.WriteString("What is in the folders is not shown here.\n")
		}
		return
	}
	shares := shareEntries(trees, b.entries)
	for i, t := range trees {
		w.WriteString("\n" + quotePath(strings.TrimSuffix(t.root, "/")) + "/\n")
		if t.inside != "" {
			w.WriteString("  (inside " + quotePath(t.inside) + ")\n")
			continue
		}
		shown := slices.Clone(t.entries[:shares[i]])
		slices.SortFunc(shown, compareEntries)
		for _, e := range shown {
			w.WriteString(strings.Repeat("  ", strings.Count(e.path, "/")+1) + quotePath(path.Base(e.path)) + suffix[e.kind] +
				"\n")
		}
		if hidden := len(t.entries) - len(shown); t.more || hidden > 0 {
			w.WriteString("  … and more, not shown\n")
		}
	}
}

var suffix = map[treeEntryKind]string{fileEntry: "", folderEntry: "/", linkEntry: " (link)"}

// compareEntries orders entries as a tree is read: what is in a folder follows it, folders
// before files.
func compareEntries(a, b treeEntry) int {
	x := strings.Split(a.path, "/")
	y := strings.Split(b.path, "/")
	for i := 0; i < len(x) && i < len(y); i++ {
		if x[i] == y[i] {
			continue
		}
		folder := func(e treeEntry, parts []string) bool { return i < len(parts)-1 || e.kind == folderEntry }
		if fa, fb := folder(a, x), folder(b, y); fa != fb {
			if fa {
				return -1
			}
			return 1
		}
		return strings.Compare(x[i], y[i])
	}
	return len(x) - len(y)
}

// writeMemory writes the head of a memory file, and says if that is not all.
func writeMemory(w *strings.Builder, m memoryFile, b textBounds) {
	head := cutBytes(m.head, b.memory)
	fmt.Fprintf(w, "\nFrom %s:\n%s", quotePath(m.Path), marks.EscapeText(strings.TrimPrefix(head, "\ufeff")))
	if head != "" && !strings.HasSuffix(head, "\n") {
		w.WriteByte('\n')
	}
	if int64(len(head)) < m.Bytes {
		fmt.Fprintf(w, "[cut here: %d of %d bytes; the rest is in the file]\n", len(head), m.Bytes)
	}
}

// quotePath returns a path as it is written in a line: quoted if it could look like more than
// one, or like a mark.
func quotePath(s string) string {
	odd := func(r rune) bool { return unicode.IsSpace(r) && r != ' ' && r != '\u3000' }
	if !strings.ContainsFunc(s, odd) && marks.EscapeLine(s) == s {
		return s
	}
	return marks.EscapeLine(strconv.Quote(s))
}
