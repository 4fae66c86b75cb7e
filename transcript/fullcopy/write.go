package fullcopy

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"io"
	"iter"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/plainjson"
	"github.com/scrollback-ai/scrollback/internal/seal"
)

// Writer writes a full copy: Begin, then the messages, then End.
type Writer struct {
	out   *bufio.Writer
	sum   *seal.Writer // under out
	err   error
	items int // of the list that is open
}

// NewWriter makes a writer to w.
func NewWriter(w io.Writer) *Writer {
	sum := seal.NewWriter(w)
	return &Writer{out: bufio.NewWriterSize(sum, 64<<10), sum: sum}
}

// Begin writes what comes before the messages. at is the copy's time in Unix ms.
func (w *Writer) Begin(at int64, c scrollback.Conversation, branches []scrollback.BranchEntry) error {
	w.text(`{"archive":`)
	w.value(head{Format: format, Version: version, CreatedAt: at, Sealed: true})
	w.text(",\n\"branches\":")
	w.value(branches)
	w.text(",\n\"conversation\":")
	w.value(c)
	w.text(",\n\"messages\":[")
	return w.err
}

// Message writes the next message and the turns that failed after it. attached opens the
// bytes of a part, or returns nil for a part that has none.
func (w *Writer) Message(m scrollback.Message, turns []scrollback.TurnEntry,
	attached func(i int) (io.ReadCloser, error)) error {
	parts := m.Parts
	w.begin()
	head := w.marshal(message{Message: m, Seq: m.Seq, Turns: turns})
	w.text(string(bytes.TrimSuffix(head, []byte("}"))) + `,"parts":[`)
	for i, p := range parts {
		if i > 0 {
			w.text(",")
		}
		one := bytes.TrimSuffix(bytes.TrimPrefix(w.marshal(scrollback.Parts{p}), []byte("[")), []byte("]"))
		r, err := attached(i)
		if err != nil {
			return err
		}
		if r == nil {
			w.text(string(one))
			continue
		}
		w.text(string(bytes.TrimSuffix(one, []byte("}"))) + `,"data":"`)
		err = w.base64(r)
		if err != nil {
			return err
		}
		w.text(`"}`)
	}
	w.text("]}")
	return w.err
}

// base64 writes the bytes of an attachment, and closes it.
func (w *Writer) base64(r io.ReadCloser) error {
	enc := base64.NewEncoder(base64.StdEncoding, w.out)
	_, err := io.Copy(enc, r)
	for _, end := range []func() error{enc.Close, r.Close} {
		if endErr := end(); err == nil {
			err = endErr
		}
	}
	return scrollback.Wrap(scrollback.Unavailable, "fullcopy.Write", err)
}

// End writes what comes after the messages, and the seal, which ends the file.
func (w *Writer) End(receipts iter.Seq2[scrollback.Receipt, error], refs iter.Seq2[scrollback.RefEntry, error]) error {
	if err := list(w, "receipts", receipts); err != nil {
		return err
	}
	if err := list(w, "refs", refs); err != nil {
		return err
	}
	w.text("\n],\n")
	if w.err == nil {
		w.err = w.out.Flush()
	}
	w.text(sealBegin + hex.EncodeToString(w.sum.Sum()) + sealEnd)
	if w.err == nil {
		w.err = w.out.Flush()
	}
	return w.err
}

// list ends a list, and writes another.
func list[T any](w *Writer, name string, items iter.Seq2[T, error]) error {
	w.text("\n],\n\"" + name + "\":[")
	w.items = 0
	for v, err := range items {
		if err != nil {
			return err
		}
		w.begin()
		w.value(v)
	}
	return w.err
}

// begin begins an item of a list.
func (w *Writer) begin() {
	if w.items++; w.items > 1 {
		w.text(",")
	}
	w.text("\n")
}

func (w *Writer) text(s string) {
	if w.err == nil {
		_, w.err = w.out.WriteString(s)
	}
}

func (w *Writer) value(v any) { w.text(string(w.marshal(v))) }

// marshal is JSON without HTML escapes: what was said stays as it is.
func (w *Writer) marshal(v any) []byte {
	out, err := plainjson.Marshal(v)
	if err != nil && w.err == nil {
		w.err = scrollback.Wrap(scrollback.Internal, "fullcopy.Write", err)
	}
	return scrollback.WellFormed(out)
}
