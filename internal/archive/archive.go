// Package archive is where originals are read: it resolves a ref to what was
// said (read, tail, grep), renders segments as Markdown and stores artifacts.
//
// Words it adds: sheet (a rendered segment, with the positions of its messages),
// body (the readable bytes behind a ref), scope (what one grep walks, in the
// order of the log), stretch (a segment or a run of live messages in a scope).
//
// Invariants:
//
//   - A rendering is a function of the log alone: the same segment gives the
//     same bytes on every machine, under the renderer number stored with it. A
//     file that is rendered again and differs from the stored length or hash is an
//     internal error.
//   - Files on disk are a cache. Losing them loses nothing; reading writes nothing
//     else.
//   - File names and keys are built from validated ids only.
//   - Pages begin and end between characters and join to the exact bytes.
//   - A grep's total counts every matching line, unless the result says partial.
//
// The caller has resolved and authorised the ref. The package may not know
// SQL, the store, models or the engine: it reads the log through [Source] and
// bytes through a bucket. Errors are *scrollback.Error.
package archive

import (
	"context"
	"iter"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/blob"
)

// Source is how the archive reads the log. It never writes.
type Source interface {
	// ReadSegments returns the segments with these ids, in that order; one that is
	// missing is not_found. At most 100 are requested at once.
	ReadSegments(ctx context.Context, ids []scrollback.SegmentID) ([]scrollback.Segment, error)

	// ReadMessages returns a branch's own messages with from <= seq <= to,
	// ascending. The range is that of one leaf.
	ReadMessages(ctx context.Context, branch scrollback.BranchID, from, to int64) ([]scrollback.Message, error)

	// SiftMessages yields the messages of a branch's path with from <= seq <= to, ascending, of
	// which wanted accepts the parts as JSON; nil accepts all. It is called by several
	// goroutines.
	SiftMessages(ctx context.Context, branch scrollback.BranchID, from, to int64,
		wanted func(parts []byte) bool) iter.Seq2[scrollback.Message, error]
}

// Options tune an archive; the zero value works.
type Options struct {
	// Dir holds rendered files, as <Dir>/<conversation>/history/archive/….md.
	// Empty keeps them in memory, in at most 64 MiB.
	Dir string
	// CacheBytes bounds the rendered files; 0 means 1 GiB. The least recently
	// used are removed first.
	CacheBytes int64
	// Durable makes an object in the bucket survive a power cut, if the bucket
	// does not do that itself. Nil trusts the bucket.
	Durable func(key string) error
	// Explain says an error of the bucket in words, as a *scrollback.Error; one that it
	// returns as it is has none. Nil knows no words.
	Explain func(op string, err error) error
	// Sign makes a URL that reads a key of the bucket for a while, or an empty one if it
	// cannot. Nil signs nothing.
	Sign func(ctx context.Context, key string, d Download) (string, error)
	// GrepTime is how long one grep may take; 0 means 10 s.
	GrepTime time.Duration
	// Grace is how long the bytes of an artifact stay after they were put, though
	// nothing mentions them; 0 means 2 minutes, less none.
	Grace time.Duration
	// Now is the time by which the age of objects is told; nil is the process's own. Where
	// several servers share a bucket it is one that they agree on: a server whose own clock
	// is ahead would remove what another one has just put.
	Now func() time.Time
}

// Archive reads originals. It is safe for concurrent use, even by many processes
// over one Dir and bucket.
type Archive struct {
	src       Source
	bucket    blob.Bucket
	cache     renderCache
	sound     soundArtifacts
	renderers renderers
	durable   func(key string) error
	words     bucketWords
	signing   func(ctx context.Context, key string, d Download) (string, error)
	grepTime  time.Duration
	grace     time.Duration
	now       func() time.Time
}

// New makes an archive over a log and a bucket, neither of which may be nil; the
// caller closes the bucket. Nil options work.
func New(src Source, bucket blob.Bucket, o *Options) *Archive {
	if o == nil {
		o = &Options{}
	}
	a := &Archive{src: src, bucket: bucket, durable: o.Durable, words: o.Explain, signing: o.Sign, grepTime: o.GrepTime,
		grace: o.Grace, now: o.Now, renderers: allRenderers}
	if a.grepTime <= 0 {
		a.grepTime = 10 * time.Second
	}
	if a.grace == 0 {
		a.grace = 2 * time.Minute
	}
	if a.now == nil {
		a.now = time.Now
	}
	a.cache.initialize(o.Dir, o.CacheBytes)
	return a
}
