package transfer

import (
	"iter"

	"github.com/scrollback-ai/scrollback/transcript"
)

// Bounds of a piece of a file that is read ahead: entries, and bytes of what they say. Two pieces are read beside the one
// that is being written.
const (
	aheadEntries = 64
	aheadBytes   = 256 << 10
)

// readEntry is what a reader yields.
type readEntry struct {
	transcript.Entry
	err    error
	masked int // keys and passwords that were taken out of it
}

// sizeBytes returns about how many bytes an entry holds.
func (e *readEntry) sizeBytes() int {
	n := e.Message.Parts.Bytes()
	for _, b := range e.Bytes {
		n += len(b)
	}
	return n
}

// readAhead reads entries in a goroutine of its own, some ahead of who takes them, and has each prepared there. What the
// reader touches may be looked at again when the sequence has ended. A reader that panics does so in the caller's goroutine.
func readAhead(entries iter.Seq2[transcript.Entry, error], prepare func(*readEntry)) iter.Seq[readEntry] {
	return func(yield func(readEntry) bool) {
		pieces := make(chan []readEntry, 1)
		left := make(chan struct{})
		var broken any
		go func() {
			defer close(pieces)
			defer func() { broken = recover() }()
			var piece []readEntry
			size := 0
			hand := func() bool {
				select {
				case pieces <- piece:
					piece = nil
					size = 0
					return true
				case <-left:
					return false
				}
			}
			for entry, err := range entries {
				e := readEntry{Entry: entry, err: err}
				prepare(&e)
				piece = append(piece, e)
				if size += e.sizeBytes(); (len(piece) >= aheadEntries || size >= aheadBytes || err != nil) && !hand() {
					return
				}
			}
			if len(piece) > 0 {
				hand()
			}
		}()
		defer func() {
			close(left)
			for range pieces { // the reader has ended when it is closed
			}
			if broken != nil {
				panic(broken)
			}
		}()
		for piece := range pieces {
			for _, e := range piece {
				if !yield(e) {
					return
				}
			}
		}
	}
}
