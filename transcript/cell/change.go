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
	t.All, t.Of = Interaction(raw, o.Said)
	return t
}

// Says reports whether an interaction is what a file has already.
func (t Talk) Says(said []transcript.Entry) bool {
	readable := Readable(t.All)
	return len(readable) == len(said) && alike(readable, said) == len(said)
}

// alike says how many entries at the beginning are the same.
func alike(was, now []transcript.Entry) (n int) {
	for n < len(was) && n < len(now) && was[n].Bad == nil && Same(was[n], now[n]) {
		n++
	}
	return n
}

// Change is an interaction with what is said now: the messages that stay as the file has
// them, new ones, and behind them those that could not be read.
func (t Talk) Change(f splice.Form, depth int,
	said []transcript.Entry) (raws []json.RawMessage, kept int, notes []note, err error) {
	messages, notes, err := Write(said)
	if err != nil {
		return nil, 0, nil, err
	}
	for i := range alike(t.All, said) {
		kept += t.Of[i]
	}
	raws = t.Raw[:kept:kept]
	for _, m := range messages[kept:] {
		raw, err := f.Marshal(m, depth)
		if err != nil {
			return nil, 0, nil, err
		}
		raws = append(raws, raw)
	}
	at := 0
	for i, e := range t.All {
		if e.Bad != nil {
			raws = append(raws, t.Raw[at])
			notes = append(notes, note{})
		}
		at += t.Of[i]
	}
	return raws, kept, notes, nil
}
