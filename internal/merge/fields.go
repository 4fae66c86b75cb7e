package merge

import (
	"bytes"
	"cmp"
	"encoding/json"
	"iter"

	"github.com/scrollback-ai/scrollback/internal/stamp"
)

// isAhead reports whether a stamp is not taken at a time, in Unix ms. What nobody has changed has no author whose clock
// could be wrong: its time is that at which something was made.
func isAhead(s stamp.Stamp, now int64) bool { return s.By != "" && s.IsAhead(now) }

// compareStamps orders stamps by their clocks. What nobody has changed since it was made is before every change,
// whenever it was made.
func compareStamps(a, b stamp.Stamp) int {
	switch {
	case a.By == "" && b.By == "":
		return 0
	case a.By == "":
		return -1
	case b.By == "":
		return 1
	}
	return a.Compare(b)
}

// Compare orders what two stores have as a field of one name: the greater one counts.
func (f Field) Compare(name string, o Field) int {
	c := 0
	if name == stamp.FieldTitle {
		c = cmp.Compare(f.titleRank(), o.titleRank())
	}
	return cmp.Or(c, compareStamps(f.Stamp, o.Stamp), bytes.Compare(f.Value, o.Value), cmp.Compare(f.By, o.By))
}

// titleRank says whose title beats whose: what is no title comes last.
func (f Field) titleRank() int {
	var t Title
	if json.Unmarshal(f.Value, &t) != nil {
		return -1
	}
	return stamp.TitleRank(t.By, t.Title)
}

// compare orders what two stores have of what a person said about a sentence.
func (k Kept) compare(o Kept) int {
	return cmp.Or(compareStamps(k.Stamp, o.Stamp), cmp.Compare(k.State, o.State), cmp.Compare(k.Change, o.Change),
		cmp.Compare(k.Text, o.Text), cmp.Compare(k.By, o.By), cmp.Compare(k.Kind, o.Kind), cmp.Compare(k.Role, o.Role),
		cmp.Compare(k.CreatedAt, o.CreatedAt))
}

// compare orders two stones of one conversation: the greater one counts.
func (s Stone) compare(o Stone) int {
	return cmp.Or(s.Stamp.Compare(o.Stamp), cmp.Compare(s.Project, o.Project), cmp.Compare(s.By, o.By))
}

// Newest returns the clock that a change is made behind: the greatest of the stamps of its conversation or project that
// count at a time. Those that are too far ahead do not, or one wrong clock would carry all others along; nor does the
// time at which something was made, which may be of a wrong clock too.
func Newest(stamps iter.Seq[stamp.Stamp], now int64) int64 {
	newest := int64(0)
	for s := range stamps {
		if s.By != "" && !isAhead(s, now) {
			newest = max(newest, s.At)
		}
	}
	return newest
}

// Mend gives a stamp that was made while a clock was wrong, and that nobody takes, the clock of a change that is made
// now. Other stamps, and those of other nodes, stay as they are.
func Mend(s stamp.Stamp, own func(node string) bool, newest, now int64) stamp.Stamp {
	if isAhead(s, now) && own(s.By) {
		s.At = stamp.Next(now, newest)
	}
	return s
}
