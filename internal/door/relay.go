package door

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/threading"
	"github.com/scrollback-ai/scrollback/model"
)

// grace is how long an answer goes on when nobody reads it: a client that was cut off asks again.
const grace = 10 * time.Second

// relay is an answer on its way: all of it is kept until it has ended, so that those who ask the same meanwhile get it
// from its beginning, and a slow reader holds nobody up.
type relay struct {
	head    Head
	cancel  func()
	deliver func() // notes that the end was written to a client; nil notes nothing

	mu        sync.Mutex
	more      chan struct{} // closed and replaced when something comes
	forwarded *model.ResponseHead
	frames    [][]byte // of what is forwarded
	rest      []byte   // behind the last whole frame
	pieces    []model.Delta
	ended     bool
	last      End
	err       error
	readers   int
	alone     *time.Timer // runs while nobody reads

	name   *renamer         // of the answer, in what is forwarded; nil leaves it
	uncut  bool             // what is forwarded is one frame
	size   int              // of what came, in bytes
	caller scrollback.KeyID // who asked
	keep   any

	stopped bool
}

func newRelay(h Head, cancel func()) *relay {
	return &relay{head: h, cancel: cancel, more: make(chan struct{})}
}

// notify wakes the readers. The relay is locked.
func (r *relay) notify() {
	close(r.more)
	r.more = make(chan struct{})
}

// addPiece adds a piece of the answer.
func (r *relay) addPiece(d model.Delta) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pieces = append(r.pieces, d)
	r.size += len(d.Text) + len(d.Reasoning) + len(d.Opaque)
	r.notify()
}

// forward begins what is forwarded, and returns where its body goes.
func (r *relay) forward(h model.ResponseHead) io.Writer {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forwarded = &h
	r.notify()
	return frameWriter{r}
}

// frameWriter cuts a body into frames: events of a stream, lines, or the whole.
type frameWriter struct{ *relay }

// Write implements io.Writer. It never fails.
func (w frameWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.size += len(b)
	w.rest = append(w.rest, b...)
	for !w.uncut {
		end := frameEnd(w.rest)
		if end < 0 {
			break
		}
		w.frames = append(w.frames, w.name.rename(bytes.Clone(w.rest[:end])))
		w.rest = w.rest[end:]
	}
	w.notify()
	return len(b), nil
}

// frameEnd returns where the first event of a stream ends, behind its blank line, or a line of JSON; -1 if none does.
func frameEnd(b []byte) int {
	if len(b) > 0 && b[0] == '{' { // lines of JSON, or a body that is not a stream
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			return i + 1
		}
		return -1
	}
	for _, blank := range []string{"\n\n", "\r\n\r\n", "\r\r"} {
		if i := bytes.Index(b, []byte(blank)); i >= 0 {
			return i + len(blank)
		}
	}
	return -1
}

// stop ends the answer before it is complete.
func (r *relay) stop() {
	r.mu.Lock()
	r.stopped = true
	r.mu.Unlock()
	r.cancel()
}

// end ends the answer. One that broke off has failed.
func (r *relay) end(last End, err error) {
	if err == nil && last.Finish == scrollback.FinishTruncated {
		err = scrollback.Errorf(scrollback.Unavailable, "door", i18n.ReplyBrokeOff).WithReason(scrollback.ErrUpstream)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.rest) > 0 && (r.isRefusal() || err == nil && r.isWhole()) { // else half an event, which nobody can read
		r.frames = append(r.frames, r.name.rename(r.rest))
	}
	r.rest = nil
	r.ended = true
	r.last = last
	if r.stopped && err != nil {
		err = scrollback.Wrap(scrollback.Canceled, "door", context.Canceled)
	}
	r.err = err
	r.notify()
}

// isWhole reports whether what stands behind the last whole frame is one too, but for its end: a body, or an event that
// nothing follows. The relay is locked.
func (r *relay) isWhole() bool {
	if r.uncut || !bytes.Contains(r.rest, []byte("data:")) || r.rest[0] == '{' || r.rest[0] == '[' {
		return true
	}
	if !json.Valid(EventData(r.rest)) {
		return false
	}
	r.rest = append(bytes.TrimRight(r.rest, "\r\n"), "\n\n"...)
	return true
}

// isRefusal reports whether the model's server did not take what was forwarded. The relay is locked.
func (r *relay) isRefusal() bool { return r.forwarded != nil && r.forwarded.Status >= 300 }

// isWorded reports whether a refusal is one of the server's API, and no page of something in front of it.
func isWorded(frames [][]byte) bool { return json.Valid(bytes.Join(frames, nil)) }

// join notes that somebody reads, until leave is called.
func (r *relay) join() (leave func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.readers++
	if r.alone != nil {
		r.alone.Stop()
	}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.readers--; r.readers == 0 && !r.ended {
			r.alone = time.AfterFunc(grace, func() {
				r.mu.Lock()
				alone := r.readers == 0
				r.mu.Unlock()
				if alone {
					r.stop()
				}
			})
		}
	}
}

// read writes the answer as it comes, until it has ended or the reader is gone. A refusal of the model's server is held
// back until it is clear that nothing else is tried, and what is not a stream until it is whole.
func (r *relay) read(ctx context.Context, stream bool, w Writer) error {
	leave := r.join()
	defer leave()
	begun := false
	at := 0
	for {
		r.mu.Lock()
		more := r.more
		ended := r.ended
		forwarded := r.forwarded
		refused := r.isRefusal()
		frames := r.frames
		pieces := r.pieces
		fault := r.err
		r.mu.Unlock()
		asItStands := forwarded != nil && (!refused || ended && len(pieces) == 0 && isWorded(frames))
		switch {
		case !stream && (!ended || fault != nil && !refused):
		case asItStands:
			if !begun && len(frames) == 0 && (!ended || fault != nil && !refused) {
				break // what fails before it has begun is an error with a status
			}
			if !begun {
				begun = true
				w.Forward(*forwarded, r.head.Conversation)
			}
			for ; at < len(frames); at++ {
				w.Frame(frames[at])
			}
		case len(pieces) > 0:
			if !begun {
				begun = true
				w.Begin(r.head)
			}
			for ; at < len(pieces); at++ {
				w.Piece(pieces[at])
			}
		}
		if ended {
			err := r.finish(asItStands, refused, begun, w)
			if err == nil && !refused && ctx.Err() == nil && r.deliver != nil {
				r.deliver()
			}
			return err
		}
		select {
		case <-more:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// finish writes the end of an answer.
func (r *relay) finish(asItStands, refused, begun bool, w Writer) error {
	switch {
	case asItStands && refused:
		return nil // the server's own words
	case r.err != nil:
		return r.err
	case asItStands:
		w.EndForward()
		return nil
	case !begun:
		w.Begin(r.head)
	}
	w.End(r.last)
	return nil
}

func (d *Door) keepRelay(id threading.RequestID, r *relay) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.relays[id] = r
}

func (d *Door) dropRelay(id threading.RequestID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.relays, id)
}

func (d *Door) findRelay(id threading.RequestID) *relay {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.relays[id]
}

// rename lets what is forwarded call the answer as it is called here. A body that is not a stream is then one frame.
// A count has no answer.
func (r *relay) rename(stream bool) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.name = &renamer{to: r.head.ID}
	r.uncut = !stream
}

// writeSoFar writes what has come of the answer, and reports whether that is all of it.
func (r *relay) writeSoFar(w Writer) (ended bool) {
	r.mu.Lock()
	forwarded := r.forwarded
	frames := r.frames
	pieces := r.pieces
	ended = r.ended
	refused := r.isRefusal()
	r.mu.Unlock()
	if forwarded != nil && !refused {
		w.Forward(*forwarded, r.head.Conversation)
		for _, f := range frames {
			w.Frame(f)
		}
	} else {
		w.Begin(r.head)
		for _, p := range pieces {
			w.Piece(p)
		}
	}
	if ended {
		if err := r.finish(forwarded != nil && !refused, false, true, w); err != nil {
			w.Fail(err)
		}
	}
	return ended
}

// wait waits until the answer has ended.
func (r *relay) wait(ctx context.Context) error {
	for {
		r.mu.Lock()
		more := r.more
		ended := r.ended
		r.mu.Unlock()
		if ended {
			return nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
