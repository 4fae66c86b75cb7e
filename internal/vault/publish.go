package vault

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// Publish writes batches behind those that this store has published. They are seen when all of them are there, and a
// program that is cut off before has published none. Without batches it only mends and removes what an earlier one
// left, and writes nothing where nothing is wrong. It is a conflict where nothing names what was published before any
// more ([News.AllLost]): then [Vault.Replace] is due.
func (v *Vault) Publish(ctx context.Context, batches iter.Seq2[[]byte, error]) error {
	if err := v.lookBefore(ctx); err != nil {
		return err
	}
	if v.news.AllLost {
		return scrollback.Errorf(scrollback.Conflict, op, i18n.VaultPublishAll)
	}
	w := v.newWriting()
	if err := w.write(ctx, batches); err != nil {
		return err
	}
	if len(w.runs) == 0 {
		return v.mend(ctx)
	}
	next := v.ownHead
	if next.First == 0 {
		next.First = v.state.Own.Last + 1
	}
	next.Runs = slices.Concat(next.Runs, w.runs)
	return v.putHead(ctx, next, w, nil)
}

// Replace writes batches in place of all that this store has published. Those who read what was there before read the
// new ones as well.
func (v *Vault) Replace(ctx context.Context, batches iter.Seq2[[]byte, error]) error {
	if err := v.lookBefore(ctx); err != nil {
		return err
	}
	w := v.newWriting()
	if err := w.write(ctx, batches); err != nil {
		return err
	}
	next := head{First: v.state.Own.Last + 1, Runs: w.runs}
	gone := v.allData()
	for _, name := range w.names {
		delete(gone, name)
	}
	return v.putHead(ctx, next, w, gone)
}

// allData returns the names of the data objects of this store.
func (v *Vault) allData() map[string]bool {
	out := map[string]bool{}
	for name := range v.there.data[v.writer.id] {
		out[name] = true
	}
	return out
}

// Rewrite gives each batch of this store to edit, with its number, and keeps what that returns in its place; nothing
// drops it. A batch that is lost or damaged comes as nil. Others do not read again what they have read. What is
// replaced is removed behind the head that does not name it any more.
func (v *Vault) Rewrite(ctx context.Context, edit func(number uint64, batch []byte) ([]byte, error)) error {
	if err := v.lookBefore(ctx); err != nil {
		return err
	}
	if v.news.AllLost {
		return scrollback.Errorf(scrollback.Conflict, op, i18n.VaultPublishAll)
	}
	if v.ownHead.Number == 0 {
		return v.mend(ctx)
	}
	runs, _, err := v.runsFrom(ctx, v.writer.id, v.ownHead, v.ownHead.First)
	if err != nil {
		return err
	}
	w := v.newWriting()
	changed := false
	for i := range runs {
		next, err := v.rewriteRun(ctx, w, runs[i], edit)
		if err != nil {
			return err
		}
		changed = changed || next != nil
		if next != nil {
			runs[i] = *next
		}
	}
	if !changed {
		return v.mend(ctx)
	}
	next := head{First: v.ownHead.First, Runs: runs}
	gone := v.allData()
	for name := range namesIn(head{}, runs) {
		delete(gone, name)
	}
	return v.putHead(ctx, next, w, gone)
}

// rewriteRun has a run edited, and returns what is in its place; nothing if that is the same.
func (v *Vault) rewriteRun(ctx context.Context, w *writing, r run, edit func(uint64, []byte) ([]byte, error),
) (*run, error) {
	var texts [][]byte
	changed := false
	for i, size := range r.Sizes {
		if size == 0 {
			texts = append(texts, nil)
			continue
		}
		text, err := v.readBatch(ctx, v.writer.id, r, i)
		if err != nil && err != errLeftOut { //nolint:errorlint // it is never wrapped
			return nil, err
		}
		next, err := edit(r.First+uint64(i), text)
		if err != nil {
			return nil, err
		}
		if len(next) > maxBatch {
			return nil, tooLarge()
		}
		changed = changed || !bytes.Equal(next, text) || text == nil
		texts = append(texts, next)
	}
	if !changed {
		return nil, nil
	}
	out := run{First: r.First, Chain: r.Chain}
	w.run = &out
	for _, text := range texts {
		if err := w.add(ctx, text); err != nil {
			return nil, err
		}
	}
	w.run = nil
	return &out, w.cut(ctx, &out)
}

func tooLarge() error {
	return scrollback.Errorf(scrollback.Invalid, op, i18n.VaultBatchTooLarge, maxBatch>>20).
		WithReason(scrollback.ErrTooLarge)
}

// writing is what one call writes.
type writing struct {
	v     *Vault
	key   epochKey
	begun bool
	names []string // of the data objects
	runs  []run
	run   *run   // that is being written
	held  []byte // of it, and in no object yet
	total int    // bytes of it
}

func (v *Vault) newWriting() *writing { return &writing{v: v} }

// begin does what comes before the first object: the key list has to say what the others need to read it, and the state
// that there may be more than a head names.
func (w *writing) begin(ctx context.Context) error {
	if w.begun {
		return nil
	}
	if err := w.v.sayList(ctx); err != nil {
		return err
	}
	w.key, _ = w.v.roster.key()
	w.v.state.Writing = true
	w.v.looked = false // unless all goes well
	w.begun = true
	return w.v.keep()
}

// sayList writes this store's key list unless it says all that is known.
func (v *Vault) sayList(ctx context.Context) error {
	if _, ok := v.roster.key(); !ok {
		v.roster.newKey()
	}
	m := v.roster.byRecipient(v.own.Recipient)
	known := m != nil && slices.Contains(m.Writers, v.writer.id)
	if known && !v.relist && !v.state.Unsaid && v.state.List != "" && v.state.Said == v.roster.digest() {
		return nil
	}
	return v.writeList(ctx, v.me)
}

// write writes batches as runs.
func (w *writing) write(ctx context.Context, batches iter.Seq2[[]byte, error]) error {
	first := w.v.state.Own.Last + 1
	chain := w.v.state.Own.Chain
	var now run
	end := func() error {
		if len(now.Sizes) == 0 {
			return nil
		}
		now.Chain = nextChain(chain, now.First, len(now.Sizes), randomBytes(nameBytes))
		if err := w.cut(ctx, &now); err != nil {
			return err
		}
		chain = now.Chain
		first = now.last() + 1
		w.runs = append(w.runs, now)
		return nil
	}
	for text, err := range batches {
		if err != nil {
			return err
		}
		if len(text) == 0 {
			return scrollback.Wrap(scrollback.Internal, op, errEmptyBatch)
		}
		if len(text) > maxBatch {
			return tooLarge()
		}
		if w.run == nil {
			now = run{First: first}
			w.run = &now
		}
		if err := w.add(ctx, text); err != nil {
			return err
		}
		if len(now.Sizes) >= maxRunBatches || len(now.Objects) >= runObjects {
			if err := end(); err != nil {
				return err
			}
			w.run = nil
			now = run{}
		}
	}
	err := end()
	w.run = nil
	return err
}

// add puts a batch behind the others of the run, and writes the objects that are full.
func (w *writing) add(ctx context.Context, text []byte) error {
	w.run.Sizes = append(w.run.Sizes, len(text))
	w.total += len(text)
	w.held = append(w.held, text...)
	const largest = len(classes) - 1
	for len(w.held) >= capacity(largest) {
		if err := w.put(ctx, w.run, w.held[:capacity(largest)], largest); err != nil {
			return err
		}
		w.held = append(w.held[:0], w.held[capacity(largest):]...)
	}
	return nil
}

// cut writes what of a run is in no object yet.
func (w *writing) cut(ctx context.Context, r *run) error {
	rest := w.held
	for _, class := range cutInto(len(rest), w.total) {
		n := min(len(rest), capacity(class))
		if err := w.put(ctx, r, rest[:n], class); err != nil {
			return err
		}
		rest = rest[n:]
	}
	w.held = w.held[:0]
	w.total = 0
	return nil
}

// put writes one object of a run.
func (w *writing) put(ctx context.Context, r *run, text []byte, class int) error {
	name, err := w.object(ctx, dataKind, text, class)
	r.Objects = append(r.Objects, piece{name, len(text)})
	return err
}

// object writes a data object and returns its name.
func (w *writing) object(ctx context.Context, k kind, text []byte, class int) (string, error) {
	if err := w.begin(ctx); err != nil {
		return "", err
	}
	object, err := w.v.opener().seal(w.key, k, w.v.writer.id, text, class)
	if err != nil {
		return "", scrollback.Wrap(scrollback.Internal, op, err)
	}
	name := nameOf(object)
	w.names = append(w.names, name)
	return name, w.v.put(ctx, dataKey(w.v.writer.id, name), object)
}

// intoIndexes moves the runs of a head into indexes if they are too many.
func (w *writing) intoIndexes(ctx context.Context, h *head) error {
	text, err := json.Marshal(h.Runs)
	if err != nil || len(text) <= maxRunsInHead {
		return scrollback.Wrap(scrollback.Internal, op, err)
	}
	runs := h.Runs
	h.Runs = nil
	for len(runs) > 0 {
		n := 0
		size := 2
		for ; n < len(runs); n++ {
			one, err := json.Marshal(runs[n])
			if err != nil {
				return scrollback.Wrap(scrollback.Internal, op, err)
			}
			if n > 0 && size+len(one)+1 > capacity(2) {
				break
			}
			size += len(one) + 1
		}
		text, err := json.Marshal(runs[:n])
		if err != nil {
			return scrollback.Wrap(scrollback.Internal, op, err)
		}
		class, ok := classFor(len(text))
		if !ok {
			return scrollback.Wrap(scrollback.Internal, op, errTooLong)
		}
		name, err := w.object(ctx, indexKind, text, class)
		if err != nil {
			return err
		}
		h.Indexes = append(h.Indexes, index{name, runs[n-1].last()})
		runs = runs[n:]
	}
	return nil
}

// putHead writes the next head, and then removes what nothing names any more. gone are the names of data objects that
// the head before named, or nil where it goes on with all of them.
func (v *Vault) putHead(ctx context.Context, h head, w *writing, gone map[string]bool) error {
	if err := w.begin(ctx); err != nil {
		return err
	}
	all := h.Runs
	if err := w.intoIndexes(ctx, &h); err != nil {
		return err
	}
	h.Number = v.state.Own.Number + 1
	h.Before = v.state.Own.Head
	h.List = v.state.List
	h.Last = h.First - 1
	h.Chain = v.state.Own.Chain
	for _, i := range h.Indexes {
		h.Last = i.Last
	}
	for _, r := range h.Runs {
		h.Last = r.last()
	}
	if len(w.runs) > 0 {
		h.Chain = w.runs[len(w.runs)-1].Chain
	}
	if gone == nil {
		h.Sum = sumWith(v.ownHead.Sum, w.names...)
	} else {
		h.Sum = sumWith("")
		for name := range namesIn(h, all) {
			h.Sum = sumWith(h.Sum, name)
		}
	}
	before := v.state.Own.Before
	if err := v.sealHead(ctx, h, w.key); err != nil {
		return err
	}
	for name := range gone {
		v.litter = append(v.litter, dataKey(v.writer.id, name))
	}
	for _, p := range slices.Clone(v.there.heads[v.writer.id]) {
		// The one before stays for those who do not see this one yet, unless it names what has to go.
		old := p.name == before || gone != nil && p.name != v.state.Own.Head
		if old {
			v.litter = append(v.litter, headKey(v.writer.id, p.number, p.name))
		}
	}
	v.news.Lost = nil
	v.news.AllLost = false
	return v.sweep(ctx)
}

// sealHead writes a head, which is noted before: a program that is cut off behind it knows the head as its own.
func (v *Vault) sealHead(ctx context.Context, h head, key epochKey) error {
	payload, err := encodeHead(h, v.state.Vault, v.writer)
	if err != nil {
		return scrollback.Wrap(scrollback.Internal, op, err)
	}
	class, ok := classFor(len(payload))
	if !ok {
		return scrollback.Wrap(scrollback.Internal, op, errTooLong)
	}
	object, err := v.opener().seal(key, headKind, v.writer.id, payload, class)
	if err != nil {
		return scrollback.Wrap(scrollback.Internal, op, err)
	}
	name := nameOf(object)
	v.state.Next = name
	if err := v.keep(); err != nil {
		return err
	}
	if err := v.put(ctx, headKey(v.writer.id, h.Number, name), object); err != nil {
		return err
	}
	v.ownHead = h
	v.state.Own = foundHead{h, name}.position()
	v.state.Next = ""
	return v.keep()
}

// mend writes the key list again if it is due, and removes what an earlier writing left.
func (v *Vault) mend(ctx context.Context) error {
	if v.relist || v.state.Unsaid {
		if err := v.writeList(ctx, v.me); err != nil {
			return err
		}
	}
	if len(v.litter) == 0 && len(v.ownParts()) == 0 && !v.state.Writing {
		return v.keep()
	}
	return v.sweep(ctx)
}

// ownParts returns files that this store has left half written.
func (v *Vault) ownParts() (out []string) {
	for _, key := range v.there.parts {
		if m := partPath().FindStringSubmatch(key); m != nil && m[1] == v.writer.id {
			out = append(out, key)
		}
	}
	return out
}

// sweep removes what is ours and not needed.
func (v *Vault) sweep(ctx context.Context) error {
	for _, key := range v.litter {
		if err := v.delete(ctx, key); err != nil {
			return err
		}
	}
	v.litter = nil
	for _, key := range v.ownParts() {
		if err := v.objects.Delete(ctx, key); err != nil {
			return scrollback.Wrap(scrollback.Unavailable, op, err)
		}
	}
	v.there.parts = nil
	v.state.Writing = false
	v.looked = true
	return v.keep()
}

// Retire removes what this store wrote below the ids that it had before ([State.Former]), artifacts excepted. It is due
// where something has to go for good, after all of it was read here and [Vault.Replace] has published it again.
func (v *Vault) Retire(ctx context.Context) error {
	if err := v.lookBefore(ctx); err != nil {
		return err
	}
	if len(v.state.Former) == 0 {
		return nil
	}
	v.roster.Retired = union(v.roster.Retired, v.state.Former)
	if err := v.sayList(ctx); err != nil {
		return err
	}
	for _, w := range v.state.Former {
		var keys []string
		for _, p := range v.there.heads[w] {
			keys = append(keys, headKey(w, p.number, p.name))
		}
		for _, name := range v.there.lists[w] {
			keys = append(keys, listKey(w, name))
		}
		for name := range v.there.data[w] {
			keys = append(keys, dataKey(w, name))
		}
		for _, key := range keys {
			if err := v.delete(ctx, key); err != nil {
				return err
			}
		}
		delete(v.state.Readers, w)
	}
	v.state.Former = nil
	return v.keep()
}

// errEmptyBatch says that somebody published nothing as a batch.
var errEmptyBatch = errors.New("a batch is empty")
