package vault

import (
	"context"
	"errors"
	"iter"

	"github.com/scrollback-ai/scrollback"
)

// Batch is what another writer published in one piece.
type Batch struct {
	Writer string // its id
	Name   string // of the machine
	Number uint64 // 1, 2, 3 … of that writer
	Gap    bool   // a batch of that writer before it is missing, and may come later
	Bytes  []byte

	line *line
}

// Read yields the batches that the last look found and that were not applied here, those of a writer in its order. A
// batch that is not here yet, or whose check fails, is left out and in the news. An error ends it.
func (v *Vault) Read(ctx context.Context) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		if !v.looked {
			if _, err := v.Look(ctx); err != nil {
				yield(Batch{}, err)
				return
			}
		}
		for _, l := range v.lines {
			if !v.readLine(ctx, l, yield) {
				return
			}
		}
	}
}

// readLine yields the batches of a line, and reports whether to go on.
func (v *Vault) readLine(ctx context.Context, l *line, yield func(Batch, error) bool) bool {
	mine := &l.seen.Lines[l.at]
	name, _ := v.roster.owner(l.writer)
	gap := l.holes
	for _, r := range l.runs {
		for i := range r.Sizes {
			n := r.First + uint64(i)
			if !mine.wants(n) {
				continue
			}
			text, err := v.readBatch(ctx, l.writer, r, i)
			if errors.Is(err, errLeftOut) {
				gap = true
				continue
			}
			if err != nil {
				yield(Batch{}, err)
				return false
			}
			if !yield(Batch{l.writer, name, n, gap, text, l}, nil) {
				return false
			}
		}
	}
	return true
}

// errLeftOut says that a batch cannot be had, and that the news say why.
var errLeftOut = errors.New("left out")

// readBatch reads a batch of a run from its objects.
func (v *Vault) readBatch(ctx context.Context, w string, r run, i int) ([]byte, error) {
	from := 0
	for _, n := range r.Sizes[:i] {
		from += n
	}
	end := from + r.Sizes[i]
	out := make([]byte, 0, r.Sizes[i])
	at := 0
	for _, p := range r.Objects {
		if at < end && at+p.Used > from {
			key := dataKey(w, p.Name)
			b, ok := v.bodies[key]
			if !ok {
				b.payload, b.err = v.fetch(ctx, key, p.Name, dataKind, w)
				if b.err == nil && len(b.payload) != p.Used {
					b.err = errDamaged
				}
				v.remember(key, b)
			}
			if b.err != nil {
				if err := v.note(key, b.err); err != nil {
					return nil, err
				}
				return nil, errLeftOut
			}
			out = append(out, b.payload[max(from-at, 0):min(end-at, p.Used)]...)
		}
		at += p.Used
	}
	if len(out) != r.Sizes[i] {
		return nil, scrollback.Wrap(scrollback.Internal, op, errDamaged)
	}
	return out, nil
}

// Applied notes that a batch that [Vault.Read] yielded was applied. The state has to be kept afterwards, by
// [Vault.Keep] or in the caller's own way: what was applied and is not in the state that is kept is read again.
func (v *Vault) Applied(b Batch) { b.line.seen.Lines[b.line.at].apply(b.Number) }

// Keep has the state kept.
func (v *Vault) Keep() error { return v.keep() }
