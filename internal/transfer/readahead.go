package transfer

import (
	"context"
	"iter"
	"sync"

	"github.com/scrollback-ai/scrollback/transcript"
)

// Bounds of a piece of a file that is read ahead: entries, and bytes of what they say. Two pieces are read beside the
// one that is being written.
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

// aheadReader reads entries in a goroutine of its own, some ahead of who takes them, and has each prepared there.
type aheadReader struct {
	pieces chan []readEntry // closed when the reader has ended
	left   chan struct{}    // closed when nobody takes any more
	leave  func()           // closes left
	broken any              // what the reader panicked with
}

// readAhead begins to read. What the reader touches may be looked at again when it was stopped.
func readAhead(entries iter.Seq2[transcript.Entry, error], prepare func(*readEntry)) *aheadReader {
	r := &aheadReader{pieces: make(chan []readEntry, 1), left: make(chan struct{})}
	r.leave = sync.OnceFunc(func() { close(r.left) })
	go func() {
		defer close(r.pieces)
		defer func() { r.broken = recover() }()
		r.readEntries(entries, prepare)
	}()
	return r
}

func (r *aheadReader) readEntries(entries iter.Seq2[transcript.Entry, error], prepare func(*readEntry)) {
	var piece []readEntry
	size := 0
	hand := func() bool {
		select {
		case r.pieces <- piece:
			piece = nil
			size = 0
			return true
		case <-r.left:
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
}

// stop ends the reading, and waits for that. A reader that has panicked does so again here, in the goroutine of the
// caller.
func (r *aheadReader) stop() {
	r.leave()
	for range r.pieces { // what was read, and nobody took
	}
	if r.broken != nil {
		panic(r.broken)
	}
}

// takeEntries yields what is read, once, and then stops it.
func (r *aheadReader) takeEntries() iter.Seq[readEntry] {
	return func(yield func(readEntry) bool) {
		defer r.stop()
		for piece := range r.pieces {
			for _, e := range piece {
				if !yield(e) {
					return
				}
			}
		}
	}
}

// Reading is a session that is being read before its turn to be imported has come.
type Reading struct{ ahead *aheadReader }

// BeginReading begins to read a session as [Transfer.ImportSession] would, until a little of it waits. A session that
// is not imported after all is closed.
func BeginReading(ctx context.Context, s Session, q ImportRequest) *Reading {
	return &Reading{readAhead(fillDates(leaveOutTold(s.Tool.Read(ctx, s.Place, s.Session))), q.prepare)}
}

// Close ends the reading of a session that was not imported. After an import it does nothing.
func (r *Reading) Close() {
	if r != nil {
		r.ahead.stop()
	}
}
