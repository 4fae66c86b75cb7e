package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/doctor"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/internal/store/sql/sqlite"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/transcript"
)

// walker does the same things to two engines whose ids and clocks agree.
type walker struct {
	t     *testing.T
	rng   *rand.Rand
	rigs  [2]*enginetest.Rig
	ids   []scrollback.ConversationID
	trail []string
	done  map[string]int // operations that did something, by their first word
}

func newWalker(t *testing.T, seed uint64, drivers [2]*driver.Driver) *walker {
	w := &walker{t: t, rng: rand.New(rand.NewPCG(seed, 4)), done: map[string]int{}}
	for i, d := range drivers {
		n := 0
		w.rigs[i] = enginetest.New(t, enginetest.Options{Driver: d, Limit: 3000, NoFolds: true,
			Importers: []transcript.Importer{enginetest.Trail{}},
			NewID:     func() string { n++; return fmt.Sprintf("%08d-0000-7000-8000-000000000000", n) }},
			modeltest.Step{Reply: func(r model.Request) []model.Delta {
				return []model.Delta{{Text: fmt.Sprintf("answer to %d items", len(r.Items))}}
			}})
	}
	return w
}

// both does one thing to both and compares what they answer, by JSON and code.
func (w *walker) both(op string, do func(r *enginetest.Rig) (any, error)) any {
	w.t.Helper()
	w.trail = append(w.trail, op)
	var out [2]string
	var first any
	for i, r := range w.rigs {
		r.Clock.Add(1000)
		v, err := do(r)
		if err != nil {
			v = scrollback.CodeOf(err)
			if code := scrollback.CodeOf(err); code == scrollback.Internal || code == scrollback.Unavailable {
				w.fail("%s answers %v", op, err)
			}
		}
		b, jsonErr := json.Marshal(v)
		if jsonErr != nil {
			w.t.Fatal(jsonErr)
		}
		out[i] = string(b)
		if i == 0 && err == nil {
			first = v
			if r, ok := v.(scrollback.Receipt); !ok || r.Result == scrollback.ResultCompacted {
				kind, _, _ := strings.Cut(op, " ")
				w.done[kind]++
			}
		}
	}
	if out[0] != out[1] {
		w.fail("answers differ:\n%s", cmp.Diff(out[0], out[1]))
	}
	return first
}

func (w *walker) fail(format string, args ...any) {
	w.t.Helper()
	from := max(0, len(w.trail)-25)
	w.t.Fatalf("after %d operations, ending in\n  %s\n%s", len(w.trail), strings.Join(w.trail[from:], "\n  "),
		fmt.Sprintf(format, args...))
}

func (w *walker) id() scrollback.ConversationID { return w.ids[w.rng.IntN(len(w.ids))] }

func (w *walker) words(n int) string {
	var b strings.Builder
	for range 1 + w.rng.IntN(n) {
		b.WriteString([]string{"red ", "port ", "7077 ", "数据库 ", "remember this. ", "why? ", "tide ", "钥匙 "}[w.rng.IntN(8)])
	}
	return b.String()
}

// step does one thing by chance.
func (w *walker) step() {
	ctx := context.Background()
	id := scrollback.ConversationID("none")
	if len(w.ids) > 0 {
		id = w.id()
	}
	seq := w.rng.Int64N(40)
	switch at := w.rng.IntN(100); {
	case at < 4 || len(w.ids) == 0:
		if c, ok := w.both("create", func(r *enginetest.Rig) (any, error) {
			c, _, err := r.Create(ctx, scrollback.Conversation{})
			return c, err
		}).(scrollback.Conversation); ok {
			w.ids = append(w.ids, c.ID)
		}
	case at < 34:
		in := []store.IncomingMessage{}
		for i := range 1 + w.rng.IntN(6) {
			role := []scrollback.Role{scrollback.RoleUser, scrollback.RoleAssistant}[i%2]
			in = append(in, store.IncomingMessage{Message: scrollback.Message{Role: role, Parts: enginetest.Say(w.words(60))}})
		}
		w.both(fmt.Sprint("append to ", id), func(r *enginetest.Rig) (any, error) {
			head, err := r.Store.ReadHead(ctx, id)
			if err != nil {
				return nil, err
			}
			done, err := r.Store.AppendMessages(ctx, head, in)
			return done.Messages, err
		})
	case at < 42:
		text := w.words(30)
		w.both(fmt.Sprint("turn on ", id), func(r *enginetest.Rig) (any, error) {
			e := r.Ask(id, text)
			return len(e.Events), e.Err
		})
	case at < 54:
		w.both(fmt.Sprintf("rewind %s to %d", id, seq), func(r *enginetest.Rig) (any, error) {
			return r.Branches().Rewind(ctx, id,
				engine.Point{Seq: &seq})
		})
	case at < 60:
		pick := w.rng.Int()
		w.both(fmt.Sprint("switch ", id), func(r *enginetest.Rig) (any, error) {
			bs, err := r.Branches().List(ctx, id)
			if err != nil {
				return nil, err
			}
			return r.Branches().Rewind(ctx, id, engine.Point{Branch: bs[pick%len(bs)].ID})
		})
	case at < 66:
		if c, ok := w.both(fmt.Sprintf("fork %s at %d", id, seq), func(r *enginetest.Rig) (any, error) {
			return r.Branches().Fork(ctx, id, engine.Point{Seq: &seq}, "")
		}).(scrollback.Conversation); ok {
			w.ids = append(w.ids, c.ID)
		}
	case at < 76:
		w.both(fmt.Sprint("fold ", id), func(r *enginetest.Rig) (any, error) {
			return r.Compact(ctx, id, engine.CompactRequest{Force: true})
		})
	case at < 78:
		w.both(fmt.Sprint("clear ", id), func(r *enginetest.Rig) (any, error) {
			return r.Compact(ctx, id, engine.CompactRequest{Clear: true})
		})
	case at < 82:
		w.both(fmt.Sprint("unfold ", id), func(r *enginetest.Rig) (any, error) { return r.Uncompact(ctx, id, "") })
	case at < 84:
		pick := w.rng.Int()
		w.both(fmt.Sprint("unfold a segment of ", id), func(r *enginetest.Rig) (any, error) {
			refs, _, err := r.Refs(ctx, id, scrollback.RefQuery{Kind: scrollback.RefHistory})
			if err != nil || len(refs) == 0 {
				return nil, err
			}
			_, seg, _ := refs[pick%len(refs)].Ref.Split()
			return r.Uncompact(ctx, id, scrollback.SegmentID(seg))
		})
	case at < 87:
		w.both(fmt.Sprint("trash ", id), func(r *enginetest.Rig) (any, error) { return r.Trash(ctx, id) })
	case at < 92:
		w.both(fmt.Sprint("restore ", id), func(r *enginetest.Rig) (any, error) { return r.Restore(ctx, id) })
	case at < 94:
		w.both(fmt.Sprint("purge ", id), func(r *enginetest.Rig) (any, error) { return r.Purge(ctx, id) })
	default:
		file := fmt.Sprintf("trail s%d", w.rng.IntN(60))
		for range w.rng.IntN(12) {
			file += " " + []string{"a", "b", "c", "0"}[w.rng.IntN(4)]
		}
		if out, ok := w.both("import "+file, func(r *enginetest.Rig) (any,
			error) {
			return r.ImportText(file)
		}).(transfer.ImportResult); ok {
			for _, c := range out.Conversations {
				if !slices.Contains(w.ids, c.ID) {
					w.ids = append(w.ids, c.ID)
				}
			}
		}
	}
}

// look compares all that can be read of a conversation, and holds it against the
// invariants: the path is whole, and what is folded and what is live are exactly it.
func (w *walker) look(id scrollback.ConversationID) {
	w.t.Helper()
	ctx := context.Background()
	w.both(fmt.Sprint("read ", id), func(r *enginetest.Rig) (any, error) {
		c, err := r.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		var log []scrollback.Message
		for m, err := range r.AllMessages(ctx, id) {
			if err != nil {
				return nil, fmt.Errorf("the path of %s: %w", id, err)
			}
			if log = append(log, m); m.Seq != int64(len(log)) {
				w.fail("%s has #%d at %d", id, m.Seq, len(log))
			}
		}
		if int64(len(log)) != c.Messages {
			w.fail("%s counts %d messages, its path has %d", id, c.Messages, len(log))
		}
		m, err := r.Context(ctx, id)
		if err != nil {
			return nil, err
		}
		w.covers(r, m, c)
		bs, err := r.Branches().List(ctx, id)
		refs, _, errRefs := r.Refs(ctx, id, scrollback.RefQuery{})
		return []any{c, log, m, bs, refs}, errors.Join(err, errRefs)
	})
}

// covers checks that folded runs and live messages make the path, each once.
func (w *walker) covers(r *enginetest.Rig, m scrollback.Manifest, c scrollback.Conversation) {
	w.t.Helper()
	next := int64(1)
	for _, x := range m.Excluded {
		if x.Ref == nil {
			continue
		}
		if x.FirstSeq != next {
			w.fail("%s: the folded runs jump from #%d to #%d", c.ID, next-1, x.FirstSeq)
		}
		next = x.LastSeq + 1
		page, err := r.Read(context.Background(), c.ID, *x.Ref, 0, 1000)
		if err != nil || page.Content == "" {
			w.fail("%s: %s cannot be read: %v", c.ID, *x.Ref, err)
		}
	}
	carried := map[int64]bool{}
	for _, l := range m.Layers {
		for _, it := range l.Items {
			switch {
			case it.Seq == 0, it.Kind == scrollback.KindSummary, it.Kind == scrollback.KindPlaceholder:
			case it.Seq < next && !carried[it.Seq]:
				carried[it.Seq] = true // shown though it is folded
			case it.Seq != next:
				w.fail("%s: #%d is live where #%d should be", c.ID, it.Seq, next)
			default:
				next++
			}
		}
	}
	if next != c.Messages+1 {
		w.fail("%s: the window ends at #%d of %d", c.ID, next-1, c.Messages)
	}
}

// One list of ten thousand operations on an engine over memory and one over SQLite:
// every answer is equal, every path stays whole, and the check of what is kept finds
// nothing.
func TestWalk(t *testing.T) {
	t.Parallel()
	n := testlength.Choose(500, 1200, 10_000)
	seeds := uint64(1)
	for seed := range seeds {
		db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "s.db"), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		w := newWalker(t, seed, [2]*driver.Driver{oracle.New(), db})
		for i := range n {
			w.step()
			if i%10 == 0 && len(w.ids) > 0 {
				w.look(w.id())
			}
			if len(w.ids) > 40 { // the older ones rest
				w.ids = w.ids[1:]
			}
		}
		for _, kind := range []string{"append", "turn", "rewind", "switch", "fork", "fold", "clear", "unfold", "trash",
			"restore", "purge",
			"import"} {
			if w.done[kind] < n/200 {
				t.Errorf("only %d times: %s (%v)", w.done[kind], kind, w.done)
			}
		}
		for _, r := range w.rigs {
			found, err := doctor.Check(t.Context(), r.Store, r.Archive, nil)
			if err != nil || !found.OK {
				t.Errorf("seed %d: the check finds %+v, %v", seed, found.Problems, err)
			}
		}
	}
}
