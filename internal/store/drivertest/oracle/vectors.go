package oracle

import (
	"context"
	"maps"
	"slices"

	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// vectorContent is the vectors of messages as they were put.
type vectorContent struct {
	driver.VectorState
	at map[driver.Place]driver.MessageVector
}

// ReadVectorState implements [driver.Index].
func (db index) ReadVectorState(ctx context.Context) (driver.VectorState, error) {
	end, err := db.beginRead(ctx, "oracle.ReadVectorState")
	defer end()
	s := db.vectors.VectorState
	s.Newest = newestNumber(db.database)
	s.Vectors = int64(len(db.vectors.at))
	return s, err
}

// PutVectors implements [driver.Index].
func (db index) PutVectors(ctx context.Context, b driver.VectorBatch) (bool, error) {
	end, err := db.beginWrite(ctx, "oracle.PutVectors")
	defer end()
	s := &db.vectors
	if err != nil || b.Model != s.Model || b.From != s.Watermark ||
		len(s.at) > 0 && len(b.All) > 0 && b.Dimension != s.Dimension {
		return false, err
	}
	there := rowsAt(db.database)
	for _, v := range b.All {
		if there[v.Place] != nil {
			s.at[v.Place] = deepCopy(v)
		}
	}
	if len(b.All) > 0 {
		s.Dimension = b.Dimension
	}
	s.Watermark = b.To
	return true, nil
}

// ResetVectors implements [driver.Index].
func (db index) ResetVectors(ctx context.Context, model string) error {
	end, err := db.beginWrite(ctx, "oracle.ResetVectors")
	defer end()
	if err == nil {
		db.vectors = vectorContent{driver.VectorState{Model: model, Purged: db.vectors.Purged + 1},
			map[driver.Place]driver.MessageVector{}}
	}
	return err
}

// dropVectors removes those of messages that are gone.
func (db *database) dropVectors() {
	there := rowsAt(db)
	was := len(db.vectors.at)
	maps.DeleteFunc(db.vectors.at, func(p driver.Place, _ driver.MessageVector) bool { return there[p] == nil })
	if len(db.vectors.at) < was {
		db.vectors.Purged++
	}
}

// ReadSketches implements [driver.Index].
func (db index) ReadSketches(ctx context.Context, q driver.SketchQuery) ([]driver.Sketch, error) {
	end, err := db.beginRead(ctx, "oracle.ReadSketches")
	defer end()
	if err != nil {
		return nil, err
	}
	var out []driver.Sketch
	for _, p := range slices.Sorted(maps.Keys(db.vectors.at)) {
		v := db.vectors.at[p]
		if q.Within == nil && v.Number > q.After ||
			slices.ContainsFunc(q.Within, func(r driver.PlaceRun) bool { return r.First <= p && p <= r.Last }) {
			out = append(out, deepCopy(v.Sketch))
		}
	}
	if q.Within == nil {
		slices.SortFunc(out, func(a, b driver.Sketch) int { return int(a.Number - b.Number) })
	}
	return out[:min(len(out), q.Limit)], nil
}

// ReadVectors implements [driver.Index].
func (db index) ReadVectors(ctx context.Context, places []driver.Place) ([]driver.MessageVector, error) {
	end, err := db.beginRead(ctx, "oracle.ReadVectors")
	defer end()
	if err != nil {
		return nil, err
	}
	var out []driver.MessageVector
	for _, p := range slices.Sorted(slices.Values(places)) {
		if v, ok := db.vectors.at[p]; ok {
			v = deepCopy(v)
			v.Sketch = driver.Sketch{Place: p}
			out = append(out, v)
		}
	}
	return out, nil
}
