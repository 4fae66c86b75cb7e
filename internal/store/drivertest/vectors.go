package drivertest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/filltest"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// RunVectors runs the suite. Each call of open returns an empty driver.
func RunVectors(t *testing.T, open func(t *testing.T) *driver.Driver) {
	for name, test := range map[string]func(*vectorHarness){"VectorsPut": testVectorsPut,
		"VectorsPutOnce": testVectorsPutOnce, "VectorsReset": testVectorsReset, "VectorsPurged": testVectorsPurged,
		"VectorsPurgedShared": testVectorsPurgedShared, "VectorsPurgedBehind": testVectorsPurgedBehind,
		"VectorsPurgedMeanwhile": testVectorsPurgedMeanwhile, "VectorsField": testVectorsFields,
		"VectorsClosed": testVectorsClosed, "UsageEntered": testUsageEntered} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			defer d.Close()
			test(&vectorHarness{newIndexHarness(t, d)})
		})
	}
}

// vectorHarness is a driver under test.
type vectorHarness struct{ *indexHarness }

// vectorModel names the model of the suite, whose vectors have two numbers.
const vectorModel = "m"

func (w *vectorHarness) readVectorState() driver.VectorState {
	w.t.Helper()
	s, err := w.Index.ReadVectorState(w.ctx)
	w.wantOK(err)
	return s
}

// makeVectors makes vectors of messages, a different one of each.
func makeVectors(from int64, ms []driver.NumberedMessage) driver.VectorBatch {
	b := driver.VectorBatch{Model: vectorModel, Dimension: 2, From: from, To: ms[len(ms)-1].Number}
	for _, m := range ms {
		b.All = append(b.All, driver.MessageVector{Sketch: driver.Sketch{Number: m.Number, Place: m.Place, Role: m.Role,
			CreatedAt: m.CreatedAt, Bits: []byte{byte(m.Seq), 255}}, Scale: float64(m.Seq) / 8, Data: []byte{byte(m.Seq), 128}})
	}
	return b
}

// behindVectors returns the batch of what has no vectors, at most limit messages.
func (w *vectorHarness) behindVectors(limit int) driver.VectorBatch {
	w.t.Helper()
	s := w.readVectorState()
	ms, err := w.Index.ReadUnindexed(w.ctx, driver.UnindexedQuery{After: s.Watermark, Limit: limit})
	w.wantOK(err)
	return makeVectors(s.Watermark, ms)
}

// putVectors puts a batch and wants it to be taken.
func (w *vectorHarness) putVectors(b driver.VectorBatch) driver.VectorBatch {
	w.t.Helper()
	put, err := w.Index.PutVectors(w.ctx, b)
	w.wantOK(err)
	w.wantSame("put", true, put)
	return b
}

// wantVectors wants just these to be there.
func (w *vectorHarness) wantVectors(want ...driver.MessageVector) {
	w.t.Helper()
	sketches, err := w.Index.ReadSketches(w.ctx, driver.SketchQuery{Limit: 1000})
	w.wantOK(err)
	var bits []driver.Sketch
	var places []driver.Place
	var vectors []driver.MessageVector
	for _, v := range want {
		bits = append(bits, v.Sketch)
		places = append(places, v.Place)
		v.Sketch = driver.Sketch{Place: v.Place}
		vectors = append(vectors, v)
	}
	w.wantSame("sketches", bits, sketches)
	got, err := w.Index.ReadVectors(w.ctx, append(places, driver.NewPlace(1<<30, 1)))
	w.wantOK(err)
	w.wantSame("vectors", vectors, got)
	w.wantSame("how many there are", int64(len(want)), w.readVectorState().Vectors)
}

// testVectorsPut: without a model there is nothing; what is put is read back, by number, by runs of places, and at
// most as many as asked for.
func testVectorsPut(w *vectorHarness) {
	w.wantSame("the state at first", driver.VectorState{}, w.readVectorState())
	w.addIndexed("red", "blue", "green")
	b := w.addIndexed("red", "blue")
	w.wantSame("the state", driver.VectorState{Newest: w.readVectorState().Newest}, w.readVectorState())
	w.wantOK(w.Index.ResetVectors(w.ctx, vectorModel))
	all := w.putVectors(w.behindVectors(2)).All
	all = append(all, w.putVectors(w.behindVectors(9)).All...)
	w.wantVectors(all...)
	s := w.readVectorState()
	if s.Model != vectorModel || s.Dimension != 2 || s.Watermark != s.Newest || len(all) != 5 {
		w.t.Errorf("the state is %+v after %d", s, len(all))
	}
	got, err := w.Index.ReadSketches(w.ctx, driver.SketchQuery{After: all[1].Number, Limit: 2})
	w.wantOK(err)
	w.wantSame("after the second", []driver.Sketch{all[2].Sketch, all[3].Sketch}, got)
	n := w.branchNumber(b[0].Branch)
	got, err = w.Index.ReadSketches(w.ctx, driver.SketchQuery{Limit: 2, Within: []driver.PlaceRun{
		{First: all[1].Place, Last: all[1].Place}, {First: driver.NewPlace(n, 1), Last: driver.NewPlace(n, 9)}}})
	w.wantOK(err)
	w.wantSame("within runs", []driver.Sketch{all[1].Sketch, all[3].Sketch}, got)
	got, err = w.Index.ReadSketches(w.ctx, driver.SketchQuery{Limit: 2, Within: []driver.PlaceRun{}})
	w.wantOK(err)
	w.wantSame("within nothing", 0, len(got))
}

// testVectorsPutOnce: a batch that does not begin where the vectors end, is of another model or has another
// dimension changes nothing; one without a vector moves on.
func testVectorsPutOnce(w *vectorHarness) {
	w.addIndexed("red", "blue", "green")
	w.wantOK(w.Index.ResetVectors(w.ctx, vectorModel))
	b := w.putVectors(w.behindVectors(2))
	refuse := func(edit func(*driver.VectorBatch)) {
		w.t.Helper()
		next := w.behindVectors(9)
		edit(&next)
		put, err := w.Index.PutVectors(w.ctx, next)
		w.wantOK(err)
		w.wantSame("put", false, put)
		w.wantVectors(b.All...)
	}
	refuse(func(next *driver.VectorBatch) { *next = b })
	refuse(func(next *driver.VectorBatch) { next.Model = "another" })
	refuse(func(next *driver.VectorBatch) { next.Dimension = 3 })
	next := w.behindVectors(9)
	next.All = nil
	next.Dimension = 0
	w.putVectors(next)
	w.wantVectors(b.All...)
	s := w.readVectorState()
	w.wantSame("the end", driver.VectorState{Model: vectorModel, Dimension: 2, Watermark: next.To, Newest: s.Newest,
		Vectors: 2, Purged: s.Purged}, s)
}

// testVectorsReset: another model begins again, with another dimension.
func testVectorsReset(w *vectorHarness) {
	w.addIndexed("red", "blue")
	w.wantOK(w.Index.ResetVectors(w.ctx, vectorModel))
	w.putVectors(w.behindVectors(9))
	before := w.readVectorState()
	w.wantOK(w.Index.ResetVectors(w.ctx, "another"))
	w.wantVectors()
	s := w.readVectorState()
	if s.Purged <= before.Purged {
		w.t.Error("nobody notices that the vectors are gone")
	}
	w.wantSame("the state", driver.VectorState{Model: "another", Newest: before.Newest, Purged: s.Purged}, s)
	b := w.behindVectors(9)
	b.Model = "another"
	b.Dimension = 3
	w.putVectors(b)
	w.wantVectors(b.All...)
}

// testVectorsPurged: the vectors of messages go with them, step by step, and that can be noticed.
func testVectorsPurged(w *vectorHarness) {
	a := w.addIndexed("red", "blue", "green")
	w.addIndexed("red")
	w.wantOK(w.Index.ResetVectors(w.ctx, vectorModel))
	all := w.putVectors(w.behindVectors(9)).All
	before := w.readVectorState()
	_, err := w.Log.PurgeConversation(w.ctx,
		driver.Purge{Conversation: a[0].ConversationID, Now: w.advanceClock(), Limit: 2})
	w.wantOK(err)
	w.wantVectors(all[0], all[3])
	if w.readVectorState().Purged <= before.Purged {
		w.t.Error("nobody notices the purge")
	}
	w.purgeConversation(a[0].ConversationID)
	w.wantVectors(all[3])
}

// testVectorsPurgedShared: what another conversation inherits keeps its vectors.
func testVectorsPurgedShared(w *vectorHarness) {
	ms := w.addIndexed("red", "blue", "green")
	a, err := w.Log.ReadHead(w.ctx, ms[0].ConversationID)
	w.wantOK(err)
	child := w.addFork(a.Conversation, ms[1])
	w.wantOK(w.Index.ResetVectors(w.ctx, vectorModel))
	all := w.putVectors(w.behindVectors(9)).All
	w.purgeConversation(a.ID)
	w.wantVectors(all[:2]...)
	w.purgeConversation(child.ID)
	w.purgeConversation(a.ID)
	w.wantVectors()
}

// testVectorsPurgedBehind: a batch that was read before a purge brings nothing back.
func testVectorsPurgedBehind(w *vectorHarness) {
	a := w.addIndexed("red", "blue")
	w.addIndexed("red")
	w.wantOK(w.Index.ResetVectors(w.ctx, vectorModel))
	b := w.behindVectors(9)
	w.purgeConversation(a[0].ConversationID)
	w.putVectors(b)
	w.wantVectors(b.All[2])
}

// testVectorsPurgedMeanwhile: no vector is left of conversations that are purged while vectors are put.
func testVectorsPurgedMeanwhile(w *vectorHarness) {
	w.wantOK(w.Index.ResetVectors(w.ctx, vectorModel))
	for range 8 {
		a := w.addIndexed("red", "blue")
		b := w.behindVectors(9)
		purge := driver.Purge{Conversation: a[0].ConversationID, Now: w.advanceClock(), Limit: 9}
		var both sync.WaitGroup
		var errs [2]error
		both.Go(func() { _, errs[0] = w.Index.PutVectors(w.ctx, b) })
		both.Go(func() { _, errs[1] = w.Log.PurgeConversation(w.ctx, purge) })
		both.Wait()
		w.wantOK(errs[0])
		w.wantOK(errs[1])
		w.wantVectors()
	}
}

// testVectorsFields: a field that a statement leaves out is noticed.
func testVectorsFields(w *vectorHarness) {
	w.addIndexed("red")
	w.wantOK(w.Index.ResetVectors(w.ctx, vectorModel))
	b := w.behindVectors(9)
	v := filltest.Filled[driver.MessageVector](&filltest.Filler{})
	v.Number = b.To
	v.Place = b.All[0].Place
	b.All[0] = v
	w.putVectors(b)
	w.wantVectors(v)
}

// testVectorsClosed: a closed database and a caller who has gone get an error from every method.
func testVectorsClosed(w *vectorHarness) {
	calls := map[string]func(context.Context) error{
		"State": func(ctx context.Context) error { _, err := w.Index.ReadVectorState(ctx); return err },
		"Put": func(ctx context.Context) error {
			_, err := w.Index.PutVectors(ctx, driver.VectorBatch{From: 1 << 40})
			return err
		},
		"Reset": func(ctx context.Context) error { return w.Index.ResetVectors(ctx, vectorModel) },
		"Sketches": func(ctx context.Context) error {
			_, err := w.Index.ReadSketches(ctx, driver.SketchQuery{Limit: 1})
			return err
		},
		"Vectors": func(ctx context.Context) error {
			_, err := w.Index.ReadVectors(ctx, []driver.Place{driver.NewPlace(1, 1)})
			return err
		},
		"Usage": func(ctx context.Context) error { return w.Access.EnterUsage(ctx, "p", []scrollback.UsageRecord{{}}) },
		"Imported": func(ctx context.Context) error {
			return w.Access.EnterImported(ctx, []driver.ImportedCall{{}})
		},
		"ImportedSums": func(ctx context.Context) error {
			_, err := w.Access.DivideImported(ctx, driver.UsagePartsQuery{})
			return err
		},
		"Span": func(ctx context.Context) error {
			_, _, err := w.Driver.Threads.FindSpan(ctx, "name")
			return err
		},
	}
	gone, cancel := context.WithCancel(w.ctx)
	cancel()
	for name, call := range calls {
		if call(gone) == nil {
			w.t.Errorf("%s for a caller who has gone: no error", name)
		}
	}
	w.wantOK(w.Close())
	for _, call := range calls {
		w.wantCode(call(w.ctx), scrollback.Unavailable)
	}
}

// testUsageEntered: calls by themselves are in the books of a project, with and without a conversation.
func testUsageEntered(w *vectorHarness) {
	c := w.addConversation("one")
	record := func(id scrollback.ConversationID, tokens int64) scrollback.UsageRecord {
		return scrollback.UsageRecord{Usage: scrollback.Usage{InputTokens: tokens, TotalTokens: tokens}, Conversation: id,
			Key: "k", Model: "a/x", Purpose: "embedding", At: w.now}
	}
	w.wantOK(w.Access.EnterUsage(w.ctx, "one", []scrollback.UsageRecord{record(c.ID, 3), record("", 4)}))
	w.wantOK(w.Access.EnterUsage(w.ctx, "two", []scrollback.UsageRecord{record("", 5)}))
	day := scrollback.DayOf(w.now)
	days, err := w.Access.ListUsageDays(w.ctx, day, day)
	w.wantOK(err)
	if len(days) != 2 || days[0].Project != "one" || days[0].TotalTokens != 7 || days[0].Calls != 2 ||
		days[1].TotalTokens != 5 {
		w.t.Errorf("the days are %+v", days)
	}
	spent, err := w.Access.SumSpending(w.ctx, driver.SpendingQuery{Day: day, Key: "k"})
	w.wantOK(err)
	w.wantSame("what the key used", int64(12), spent.TotalTokens)
	parts, err := w.Access.DivideUsage(w.ctx, driver.UsagePartsQuery{First: day, Last: day, ByPurpose: true,
		ByConversation: true})
	w.wantOK(err)
	if len(parts) != 3 || parts[0].Purpose != "embedding" {
		w.t.Errorf("the records are %+v", parts)
	}
}

// advanceVectors puts vectors of a batch, or begins again.
func (w *randomWalk) advanceVectors() {
	if w.chance(10) {
		model := pickOne(w, vectorModel, "another")
		callBothError(w, fmt.Sprint("reset vectors to ", model),
			func(d *driver.Driver) error { return d.Index.ResetVectors(w.ctx, model) })
	}
	limit := 1 + w.rng.IntN(40)
	type answer struct {
		Put     bool
		Vectors int64
		There   []string
	}
	callBoth(w, fmt.Sprint("put vectors ", limit), func(d *driver.Driver) (out answer, err error) {
		s, err := d.Index.ReadVectorState(w.ctx)
		if err != nil {
			return out, err
		}
		ms, err := d.Index.ReadUnindexed(w.ctx, driver.UnindexedQuery{After: s.Watermark, Limit: limit})
		if err == nil && len(ms) > 0 {
			out.Put, err = d.Index.PutVectors(w.ctx, makeVectors(s.Watermark, ms))
		}
		if err == nil {
			s, err = d.Index.ReadVectorState(w.ctx)
			out.Vectors = s.Vectors
		}
		if err != nil {
			return out, err
		}
		all, err := d.Index.ReadSketches(w.ctx, driver.SketchQuery{Limit: 1 << 20})
		for _, one := range all {
			out.There = append(out.There, fmt.Sprint(one.Place.Seq(), one.Role, one.CreatedAt))
		}
		return out, err
	})
}
