// Package index keeps the full-text index behind the log, and looks things up in both: the
// index, and the messages behind its watermark as they stand. So what was acknowledged is
// found at once, and no turn waits for an index.
//
// Words it adds: snapshot (the index and what is behind it, at one moment), tail (the messages
// that are behind it), scan (reading a tail that is too big to be cut whole, for the terms
// of one snapshot).
//
// Invariants: the watermark moves only together with the documents it passes; a snapshot finds
// every message that was stored before it began, and each of them once; a snapshot writes
// nothing; of the tail no more than a bound is in memory.
//
// It may not know SQL, ranking, or where the texts of artifacts are.
package index

import (
	"context"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/claims"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/terms"
)

// MaxTerms bounds how many terms of one message are indexed.
const MaxTerms = 16_000

// Bounds of a batch. A smaller one waits, so that segments are few.
const (
	batchMessages = 64
	batchBytes    = 256 << 10 // of text
	mostMessages  = 8 * batchMessages
	mostBytes     = 4 * batchBytes // of parts
)

// Index is the index of one database. It is safe for concurrent use.
type Index struct {
	driver.Index
	text    func(context.Context, scrollback.Message) (string, error)
	version int
	tail    tail
	recent  recent

	counter atomic.Pointer[terms.Counter] // that nobody uses now; it knows the words of what was cut last

	scanTime time.Duration    // how long a snapshot reads a tail at most
	claims   *claims.Registry // nil where no other server keeps the index
	follower
}

// New makes an index over d. text is what a message is found by: what it says, and what its
// artifacts say. With an error it returns what it could read.
func New(d driver.Index, text func(context.Context, scrollback.Message) (string, error)) *Index {
	x := &Index{Index: d, text: text, version: terms.Version, scanTime: scanTime}
	x.tail.lock = make(chan struct{}, 1)
	x.began = time.Now()
	return x
}

// ShareWork lets the servers of a database take turns at keeping its index. Where processes of one
// machine have a file open it leaves them alone: what two do at once is stored once, and a claim
// would cost each batch two writes.
func (x *Index) ShareWork(d *driver.Driver, registry *claims.Registry) *Index {
	if d.Clock != nil {
		x.claims = registry
	}
	return x
}

// ReadText returns what a message is found by, as far as it can be read now.
func (x *Index) ReadText(ctx context.Context, m scrollback.Message) string {
	text, _ := x.text(ctx, m) // without the artifacts that cannot be read
	return text
}

// document is a message cut into its terms. whole says that all of its text could be read.
type document struct {
	driver.Mark
	number int64
	bytes  int // of text
	whole  bool

	terms  []string // each once; ascending once it is sorted
	counts []int32  // how often each is there
	sorted bool
}

// sortTerms returns the document with its terms ascending, as they are looked up. Most documents are indexed before
// anybody does.
func (d *document) sortTerms() *document {
	if d.sorted {
		return d
	}
	order := make([]int, len(d.terms))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(d.terms[a], d.terms[b]) })
	out := *d
	out.sorted = true
	out.terms = make([]string, len(order))
	out.counts = make([]int32, len(order))
	for i, at := range order {
		out.terms[i] = d.terms[at]
		out.counts[i] = d.counts[at]
	}
	return &out
}

// cutMessage cuts a message.
func (x *Index) cutMessage(ctx context.Context, m driver.NumberedMessage) *document {
	text, err := x.text(ctx, m.Message)
	c := x.counter.Swap(nil)
	if c == nil { // somebody else uses it
		c = new(terms.Counter)
	}
	defer x.counter.Store(c)
	all, counts, length := c.CountTerms(text, MaxTerms)
	return &document{number: m.Number, bytes: len(text), whole: err == nil, terms: all, counts: counts,
		Mark: driver.Mark{Place: m.Place, Role: m.Role, CreatedAt: m.CreatedAt, Length: length}}
}

// toDriver returns the document as an index takes it.
func (d *document) toDriver() driver.Document {
	return driver.Document{Mark: d.Mark, Terms: d.terms, Counts: d.counts}
}

// sizeBytes returns about how many bytes of memory a document takes.
func (d *document) sizeBytes() int { return d.bytes + 24*len(d.terms) + 200 }

// countTerm returns how often a term is in a document.
func (d *document) countTerm(want string) (n int) {
	begin, prefix := strings.CutSuffix(want, "*")
	for i := sort.SearchStrings(d.terms, begin); i < len(d.terms); i++ {
		if prefix && !strings.HasPrefix(d.terms[i], begin) || !prefix && d.terms[i] != want {
			break
		}
		n += int(d.counts[i])
	}
	return n
}

// cutAll cuts messages, several at once.
func (x *Index) cutAll(ctx context.Context, batch []driver.NumberedMessage, workers int) []*document {
	out := make([]*document, len(batch))
	runParallel(len(batch), workers, func(i int) { out[i] = x.cutMessage(ctx, batch[i]) })
	return out
}

// runParallel calls do for 0 to n-1, in the given number of goroutines.
func runParallel(n, workers int, do func(i int)) {
	if workers = min(workers, n/4); workers < 2 {
		for i := range n {
			do(i)
		}
		return
	}
	var all sync.WaitGroup
	var next atomic.Int64
	for range workers {
		all.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				do(int(i))
			}
		})
	}
	all.Wait()
}

// batchOptions says how a batch is made: all of it, however small; lenient with texts of artifacts
// that cannot be read; by the given number of goroutines.
type batchOptions struct {
	all, lenient bool
	workers      int
}

// CatchUp indexes a batch of what is behind, however small, and reports whether there may
// be more. What cannot be read of artifacts is left out. A batch that somebody else has put
// meanwhile is left to them.
func (x *Index) CatchUp(ctx context.Context) (more bool, err error) {
	more, _, err = x.catchUp(ctx, batchOptions{all: true, lenient: true, workers: runtime.GOMAXPROCS(0)})
	return more, err
}

// catchUp is CatchUp, of a whole batch or not at all unless how says otherwise. left is what
// it has seen and not put.
func (x *Index) catchUp(ctx context.Context, h batchOptions) (more bool, left unindexed, err error) {
	s, err := x.ReadState(ctx)
	switch {
	case err != nil || s.Cut > x.version: // a newer program's
		return false, left, err
	case s.Cut < x.version:
		return true, left, x.Reset(ctx, x.version)
	case s.Newest <= s.Watermark:
		return false, left, nil
	}
	docs, err := x.readBatch(ctx, s, h.workers)
	if err != nil || len(docs) == 0 {
		return false, left, err
	}
	d := driver.DocumentBatch{Cut: x.version, From: s.Watermark, To: docs[len(docs)-1].number}
	for _, one := range docs {
		if !one.whole && !h.lenient {
			return false, left, scrollback.Errorf(scrollback.Unavailable, "index.CatchUp",
				i18n.ArtifactTextUnreadable)
		}
		if one.Length > 0 {
			d.All = append(d.All, one.toDriver())
		}
		left.messages += 1
		left.bytes += int64(one.bytes)
	}
	if !h.all && !left.fillsBatch() {
		return false, left, nil
	}
	_, err = x.PutDocuments(ctx, d)
	return true, unindexed{}, err
}

// readBatch returns the documents right behind the index: those of the tail that are cut already,
// or cut now.
func (x *Index) readBatch(ctx context.Context, s driver.IndexState, workers int) ([]*document, error) {
	batch := func(docs []*document) []*document {
		bytes := 0
		for i, d := range docs {
			if bytes += d.bytes; i+1 == mostMessages || bytes >= mostBytes {
				return docs[:i+1]
			}
		}
		return docs
	}
	if s.Newest-s.Watermark <= tailMessages {
		docs, fits, err := x.tail.readByNumber(ctx, x, s, workers)
		if err != nil || fits {
			return batch(docs), err
		}
	}
	ms, err := x.ReadUnindexed(ctx, driver.UnindexedQuery{After: s.Watermark, Limit: mostMessages, Bytes: mostBytes,
		Known: x.recent.take})
	if err != nil {
		return nil, err
	}
	return batch(x.cutAll(ctx, ms, workers)), ctx.Err()
}
