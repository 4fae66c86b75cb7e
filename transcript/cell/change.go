package cell

import (
	"encoding/json"

	"github.com/scrollback-ai/scrollback/internal/splice"
	"github.com/scrollback-ai/scrollback/transcript"
)

// Talk is an interaction as a file has it: its messages, and the entries that each group of
// them makes, among them those that cannot be read.
type Talk struct {
	Raw []json.RawMessage
	All []transcript.Entry
	Of  []int
}

// ReadTalk reads the messages of an interaction.
func ReadTalk(raw []json.RawMessage, o Ours) Talk {
	t := Talk{Raw: raw}
	t.All, t.Of = ReadInteraction(raw, o.Said)
	return t
}

// IsSame reports whether an interaction is what a file has already.
func (t Talk) IsSame(said []transcript.Entry) bool {
	readable := ReadableEntries(t.All)
	return len(readable) == len(said) && countAlike(readable, said) == len(said)
}

// countAlike returns how many entries at the beginning are the same.
func countAlike(was, now []transcript.Entry) (n int) {
	for n < len(was) && n < len(now) && was[n].Bad == nil && IsSame(was[n], now[n]) {
		n++
	}
	return n
}

// ChangeTo returns an interaction with what is said now: the messages that stay as the file has
// them, new ones, and behind them those that could not be read.
func (t Talk) ChangeTo(f splice.Form, depth int,
	said []transcript.Entry) (raws []json.RawMessage, kept int, notes []messageNote, err error) {
	messages, notes, err := Write(said)
	if err != nil {
		return nil, 0, nil, err
	}
	for i := range countAlike(t.All, said) {
		kept += t.Of[i]
	}
	raws = t.Raw[:kept:kept]
	for _, m := range messages[kept:] {
		raw, err := f.MarshalAt(m, depth)
		if err != nil {
			return nil, 0, nil, err
		}
		raws = append(raws, raw)
	}
	at := 0
	for i, e := range t.All {
		if e.Bad != nil {
			raws = append(raws, t.Raw[at])
			notes = append(notes, messageNote{})
		}
		at += t.Of[i]
	}
	return raws, kept, notes, nil
}
