package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// heldFolds lets some folds be stored, and holds the others until it is opened.
type heldFolds struct {
	driver.Views
	mu   sync.Mutex
	let  int
	open chan struct{}
	held chan struct{} // has something as soon as one is held
}

func (h *heldFolds) CommitFold(ctx context.Context, c driver.FoldCommit) error {
	h.mu.Lock()
	h.let--
	held := h.let < 0
	h.mu.Unlock()
	if held {
		select {
		case h.held <- struct{}{}:
		default:
		}
		select {
		case <-h.open:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return h.Views.CommitFold(ctx, c)
}

// holdFolds returns a driver in memory that stores so many folds before it holds the next.
func holdFolds(let int) (*driver.Driver, *heldFolds) {
	d := oracle.New()
	h := &heldFolds{Views: d.Views, let: let, open: make(chan struct{}), held: make(chan struct{}, 1)}
	d.Views = h
	return d, h
}

// waits returns the messages that a manifest names as not compacted yet; zeros for none.
func waits(m scrollback.Manifest) (out scrollback.SeqRange) {
	for _, x := range m.Excluded {
		if x.Reason == scrollback.ExcludedNotCompacted {
			out = scrollback.SeqRange{First: x.FirstSeq, Last: x.LastSeq}
		}
	}
	return out
}

// foldedRuns lists the messages that a manifest names as folded.
func foldedRuns(m scrollback.Manifest) (out []scrollback.SeqRange) {
	for _, x := range m.Excluded {
		if x.Reason == "folded" {
			out = append(out, scrollback.SeqRange{First: x.FirstSeq, Last: x.LastSeq})
		}
	}
	return out
}

// A long conversation that was imported is compacted when somebody goes on in it. A turn that does not wait for the end
// of that sends what is compacted so far, the newest messages, and a line about the rest, which is compacted beside it.
func TestFirstTurnAfterImport(t *testing.T) {
	const n = 900
	ctx := context.Background()
	for _, let := range []int{0, 1} {
		t.Run(fmt.Sprint(let, " folds"), func(t *testing.T) {
			t.Parallel()
			d, held := holdFolds(let)
			r := enginetest.New(t, enginetest.Options{Driver: d}, modeltest.Say("an answer"))
			id := r.NewConversation()
			r.ImportMany(id, n)
			before, err := r.Context(ctx, id)
			if err != nil || before.Over > 0 || waits(before).First != 1 || waits(before).Last >= n {
				t.Fatalf("over by %d, and %+v waits (%v)", before.Over, waits(before), err)
			}
			if rs, err := r.Receipts(ctx, id, 10); err != nil || len(rs) > 0 {
				t.Fatalf("the import compacted: %+v, %v", rs, err)
			}
			r.Ask(id, "Where was I?").WantDone(t, scrollback.TurnComplete, "stop")
			<-held.held // as many as are let are stored
			first := r.Ask(id, "And where is the 钥匙 now?")
			first.WantDone(t, scrollback.TurnComplete, "stop")
			begun, _ := enginetest.Last[scrollback.TurnEvent](first)
			sent := r.Script.Requests()[1]
			all := fmt.Sprint(sent.Items)
			steps, err := r.Turns().Context(ctx, id, begun.TurnID, engine.PastRequest{Content: true})
			if err != nil {
				t.Fatal(err)
			}
			m := steps.Steps[0]
			w := waits(m)
			line := fmt.Sprintf("Messages #%d–#%d were imported and are not compacted yet. Find what they say with "+
				"context_grep, or read them with context_read #%d-#%d.", w.First, w.Last, w.First, w.Last)
			runs := foldedRuns(m)
			switch {
			case m.Partial, m.Over > 0, w.Last < n/2, w.Last >= n, len(runs) != let,
				len(runs) > 0 && runs[len(runs)-1].Last != w.First-1:
				t.Errorf("the manifest names %+v as folded and %+v as waiting; over by %d", runs, w, m.Over)
			case !strings.Contains(all, line), !strings.Contains(all, fmt.Sprintf("answer> %d ", n-1)),
				!strings.Contains(all, "And where is the 钥匙 now?"):
				t.Errorf("the request lacks %q, the newest message or the prompt", line)
			}
			span := scrollback.Ref(fmt.Sprintf("#%d-#%d", w.First, w.Last))
			if got := r.ReadAll(id, span); !strings.Contains(got, fmt.Sprintf("## #%d ", w.Last)) {
				t.Errorf("%s cannot be read", span)
			}
			close(held.open)
			if err := r.Engine.Settle(ctx); err != nil {
				t.Fatal(err)
			}
			after, err := r.Context(ctx, id)
			if err != nil || after.Over > 0 || waits(after) != (scrollback.SeqRange{}) {
				t.Fatalf("%+v still waits, over by %d (%v)", waits(after), after.Over, err)
			}
			r.Ask(id, "And now?").WantDone(t, scrollback.TurnComplete, "stop")

			whole := enginetest.New(t, enginetest.Options{NoFolds: true}, modeltest.Say("an answer"))
			other := whole.NewConversation()
			whole.ImportMany(other, n)
			whole.Ask(other, "Where was I?").WantDone(t, scrollback.TurnComplete, "stop")
			whole.Ask(other, "And where is the 钥匙 now?").WantDone(t, scrollback.TurnComplete, "stop")
			whole.Ask(other, "And now?").WantDone(t, scrollback.TurnComplete, "stop")
			m, err = whole.Context(ctx, other)
			if got, want := foldedRuns(after), foldedRuns(m); err != nil || !slices.Equal(got, want) {
				t.Errorf("folded are %v, and %v where all was compacted at once (%v)", got, want, err)
			}
			got := r.Script.Requests()[2].Items
			if want := whole.Script.Requests()[2].Items; len(got) != len(want) {
				t.Errorf("the last request has %d items, %d where all was compacted at once", len(got), len(want))
			}
		})
	}
}

// A program that is killed while it compacts what was imported leaves what it has compacted; the next turn goes on
// there.
func TestCatchUpGoesOn(t *testing.T) {
	ctx := context.Background()
	d, held := holdFolds(1)
	first := enginetest.New(t, enginetest.Options{Driver: d}, modeltest.Say("an answer"))
	id := first.NewConversation()
	first.ImportMany(id, 900)
	first.Ask(id, "And where is the 钥匙 now?").WantDone(t, scrollback.TurnComplete, "stop")
	<-held.held
	if err := first.Close(ctx); err != nil { // what is held is not stored
		t.Fatal(err)
	}
	d.Views = d.Views.(*heldFolds).Views
	r := enginetest.New(t, enginetest.Options{Driver: d, Clock: first.Clock}, modeltest.Say("an answer"))
	m, err := r.Context(ctx, id)
	if err != nil || len(foldedRuns(m)) != 1 || waits(m).First != foldedRuns(m)[0].Last+1 {
		t.Fatalf("%v is folded and %+v waits (%v)", foldedRuns(m), waits(m), err)
	}
	r.Ask(id, "And now?").WantDone(t, scrollback.TurnComplete, "stop")
	if err := r.Engine.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	m, err = r.Context(ctx, id)
	runs := foldedRuns(m)
	if err != nil || waits(m) != (scrollback.SeqRange{}) || len(runs) < 2 {
		t.Fatalf("%v is folded and %+v waits (%v)", runs, waits(m), err)
	}
	next := int64(1)
	for _, run := range runs {
		if run.First != next {
			t.Errorf("%v leave a gap before #%d", runs, run.First)
		}
		next = run.Last + 1
	}
}
