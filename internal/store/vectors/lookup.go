package vectors

import (
	"context"
	"sync"

	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/vector"
)

// Bounds of a lookup.
const (
	// MostScanned is how many vectors are looked through for a question: where there are more, only what words
	// have found is compared.
	MostScanned = 100_000

	mostRuns    = 64     // of places, whose vectors are read from the database where not all are in memory
	pageOf      = 10_000 // sketches that are read at once
	mostNearest = 256    // that are compared by their vectors

	// Of a few, not all are near: one of ten, but some.
	nearestOf    = 10
	leastNearest = 5
)

// cache is the sketches of all vectors, 160 bytes each: at most [MostScanned] of them. They are read once, and then
// what was added.
type cache struct {
	mu     sync.Mutex
	model  string
	purged int64
	last   int64 // the number up to which they are there
	all    sketches
}

// sketches are what is compared of many vectors. Those that are there do not change.
type sketches struct {
	marks []driver.Mark
	words []vector.Words
}

func (s *sketches) add(all []driver.Sketch) {
	for _, one := range all {
		s.marks = append(s.marks, driver.Mark{Place: one.Place, Role: one.Role, CreatedAt: one.CreatedAt})
		s.words = append(s.words, vector.ParseSketch(one.Bits))
	}
}

// Lookup is the vectors as one question sees them. It is for one goroutine at a time.
type Lookup struct {
	x        *Vectors
	state    driver.VectorState
	question []float32
}

// NewLookup looks at the vectors of a model by a question's own; nil if there are none, or they are of another kind.
func (x *Vectors) NewLookup(ctx context.Context, model string, question []float32) (*Lookup, error) {
	s, err := x.d.ReadVectorState(ctx)
	question, ok := vector.Normalise(question)
	if err != nil || !ok || s.Model != model || s.Vectors == 0 || s.Dimension != len(question) {
		return nil, err
	}
	return &Lookup{x, s, question}, nil
}

// Load reads what is kept in memory of the vectors, so that no question waits for it.
func (x *Vectors) Load(ctx context.Context) error {
	s, err := x.d.ReadVectorState(ctx)
	if err == nil && s.Vectors <= int64(x.most) {
		_, err = x.readAll(ctx, s)
	}
	return err
}

// Compare returns how near the messages at places, ascending, are to the question: 1 for the same, less than 0 for
// opposites. Those without a vector are left out.
func (l *Lookup) Compare(ctx context.Context, places []driver.Place) (map[driver.Place]float64, error) {
	all, err := l.x.d.ReadVectors(ctx, places)
	out := make(map[driver.Place]float64, len(all))
	for _, v := range all {
		out[v.Place] = vector.Compare(l.question, v.Data, v.Scale)
	}
	return out, err
}

// FindNearest returns the places that look nearest to the question, of what a query narrows to and keep lets through:
// a tenth of these, but at least 5 and at most 256, as far as they are nearer than most. It returns none where
// there are too many to be looked through.
func (l *Lookup) FindNearest(ctx context.Context, q driver.PostingQuery,
	keep func(context.Context, []driver.Place) ([]driver.Place, error)) ([]driver.Place, error) {
	all, err := l.readSketches(ctx, q.Within)
	if err != nil || len(all.words) == 0 {
		return nil, err
	}
	own := vector.ParseSketch(vector.Sketch(l.question))
	distances := make([]int16, len(all.words))
	var counts [vector.MaxDistance + 2]int
	sum := 0
	n := 0
	for i := range all.words {
		if !q.Matches(all.marks[i]) {
			distances[i] = -1
			continue
		}
		d := own.Distance(&all.words[i])
		distances[i] = int16(d)
		counts[d+1]++
		sum += d
		n++
	}
	if n == 0 {
		return nil, nil
	}
	for d := range vector.MaxDistance + 1 { // where those of each distance begin
		counts[d+1] += counts[d]
	}
	order := make([]driver.Place, n)
	nearer := 0 // than they are on average
	for i, d := range distances {
		if d < 0 {
			continue
		}
		order[counts[d]] = all.marks[i].Place
		counts[d]++
		if int(d)*n <= sum {
			nearer++
		}
	}
	order = order[:nearer]
	most := min(max(n/nearestOf, leastNearest), mostNearest)
	var out []driver.Place
	for size := mostNearest; len(order) > 0 && len(out) < most; size *= 2 {
		some := order[:min(size, len(order))]
		order = order[len(some):]
		kept, err := keep(ctx, some)
		if err != nil {
			return nil, err
		}
		out = append(out, kept...)
	}
	return out[:min(len(out), most)], nil
}

// readSketches returns those within runs of places at least: from memory, or where there are too many from the
// database.
func (l *Lookup) readSketches(ctx context.Context, within []driver.PlaceRun) (sketches, error) {
	if l.state.Vectors <= int64(l.x.most) {
		return l.x.readAll(ctx, l.state)
	}
	if within == nil || len(within) > mostRuns {
		return sketches{}, nil
	}
	got, err := l.x.d.ReadSketches(ctx, driver.SketchQuery{Within: within, Limit: l.x.most + 1})
	var out sketches
	if len(got) <= l.x.most {
		out.add(got)
	}
	return out, err
}

// readAll brings the cache up to a state and returns what it has.
func (x *Vectors) readAll(ctx context.Context, s driver.VectorState) (sketches, error) {
	c := &x.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.model != s.Model || c.purged != s.Purged {
		c.model = s.Model
		c.purged = s.Purged
		c.last = 0
		c.all = sketches{}
	}
	for c.last < s.Watermark && len(c.all.marks) <= x.most {
		got, err := x.d.ReadSketches(ctx, driver.SketchQuery{After: c.last, Limit: pageOf})
		if err != nil {
			return sketches{}, err
		}
		c.all.add(got)
		if len(got) > 0 {
			c.last = got[len(got)-1].Number
		}
		if len(got) < pageOf {
			c.last = max(c.last, s.Watermark)
		}
	}
	return c.all, nil
}
