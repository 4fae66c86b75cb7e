package merge

import (
	"bytes"
	"cmp"
	"encoding/json"
	"time"

	"github.com/scrollback-ai/scrollback"
)

// Ahead is how far the stamp of a field or a stone may be ahead of the wall clock of the store that it comes to.
const Ahead = 24 * time.Hour

// TooFarAhead reports whether a stamp is not taken yet at a time, in Unix ms.
func (s Stamp) TooFarAhead(now int64) bool { return s.By != "" && s.At-Ahead.Milliseconds() > now }

// Compare orders stamps by their clocks. What nobody has changed since it was made is before every change, whenever
// it was made. Equal stamps of two authors are equal: what they say decides, never who.
func (s Stamp) Compare(o Stamp) int {
	switch {
	case s.By == "" && o.By == "":
		return 0
	case s.By == "":
		return -1
	case o.By == "":
		return 1
	}
	return cmp.Compare(s.At, o.At)
}

// Compare orders what two stores have as a field of one name: the greater one counts.
func (f Field) Compare(name string, o Field) int {
	c := 0
	if name == FieldTitle {
		c = cmp.Compare(f.titleRank(), o.titleRank())
	}
	return cmp.Or(c, f.Stamp.Compare(o.Stamp), bytes.Compare(f.Value, o.Value), cmp.Compare(f.By, o.By))
}

// titleRank says whose title beats whose: a person's the tool's, that a model's, that the prompt's. No title at all
// beats none, unless somebody has made it so.
func (f Field) titleRank() int {
	var t Title
	if json.Unmarshal(f.Value, &t) != nil {
		return -1
	}
	switch t.By {
	case scrollback.TitleGiven:
		if t.Title == "" && f.By == "" {
			return 0
		}
		return 4
	case scrollback.TitleTool:
		return 3
	case scrollback.TitleModel:
		return 2
	}
	return 1
}

// compare orders what two stores have of what a person said about a sentence.
func (k Kept) compare(o Kept) int {
	return cmp.Or(k.Stamp.Compare(o.Stamp), cmp.Compare(k.State, o.State), cmp.Compare(k.Change, o.Change),
		cmp.Compare(k.Text, o.Text), cmp.Compare(k.By, o.By), cmp.Compare(k.Kind, o.Kind), cmp.Compare(k.Role, o.Role),
		cmp.Compare(k.CreatedAt, o.CreatedAt))
}

// compare orders two stones of one conversation: the first purge counts.
func (s Stone) compare(o Stone) int {
	return cmp.Or(cmp.Compare(s.At, o.At), cmp.Compare(s.By, o.By), cmp.Compare(s.Project, o.Project))
}

// Mend gives a stamp that was made while a clock was wrong, and that nobody takes, the time at which the clock is right
// again: newest is the newest stamp of the conversation that is not too far ahead, or its creation. Other stamps,
// and those of other nodes, stay as they are.
func (s Stamp) Mend(own func(node string) bool, newest, now int64) Stamp {
	if s.TooFarAhead(now) && own(s.By) {
		s.At = max(now, newest+1)
	}
	return s
}

// NextStamp is the clock of a change that is made now, where newest is the greatest one of the conversation.
func NextStamp(now, newest int64) int64 { return max(now, newest+1) }
