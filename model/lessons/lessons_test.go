package lessons_test

import (
	"bytes"
	"context"
	"iter"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/lessons"
	"github.com/scrollback-ai/scrollback/token"
)

// shelf keeps lessons in memory.
type shelf map[string]scrollback.Learned

func (s shelf) ReadLearned(_ context.Context, name string) (scrollback.Learned, error) {
	return s[name], nil
}

func (s shelf) UpdateLearned(_ context.Context, name string, edit func(*scrollback.Learned)) error {
	l := s[name]
	edit(&l)
	s[name] = l
	return nil
}

func (shelf) Now() int64 { return time.Now().UnixMilli() }

// server is a model that says what it is told to.
type server struct {
	deltas []model.Delta
	asked  int
}

func (*server) Facts() model.Facts { return model.Facts{Name: "custom/m"} }

func (s *server) Stream(context.Context, model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		for _, d := range s.deltas {
			if !yield(d, nil) {
				return
			}
		}
	}
}

// List never returns by itself.
func (s *server) List(ctx context.Context) (limit, maxOutput int64, err error) {
	s.asked++
	<-ctx.Done()
	return 0, 0, ctx.Err()
}

func keeper(log *bytes.Buffer) *lessons.Keeper {
	return lessons.New(shelf{}, lessons.Options{Catalog: token.NewCatalog(nil),
		Log: slog.New(slog.NewTextHandler(log, nil)), Least: 2000})
}

// A server that does not say how long its windows are holds up a turn for seconds,
// and the next ones not at all.
func TestListIsNotWaitedForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := keeper(&bytes.Buffer{})
		s := &server{}
		began := time.Now()
		for range 3 {
			k.AskWindow(t.Context(), k.WrapModel("m", s))
		}
		if took := time.Since(began); took > 10*time.Second || s.asked != 1 {
			t.Errorf("asked %d times in %v", s.asked, took)
		}
	})
}

// What a provider counted and cannot be is brought within bounds, is an estimate, and
// is told in the log; what it did not count is left alone.
func TestUsageThatCannotBe(t *testing.T) {
	for name, c := range map[string]struct {
		said  scrollback.Usage
		wrong bool
	}{
		"sound":    {scrollback.Usage{InputTokens: 5, OutputTokens: 1, TotalTokens: 6}, false},
		"negative": {scrollback.Usage{InputTokens: -5, OutputTokens: 1}, true},
		"doubted":  {scrollback.Usage{InputTokens: 5, OutputTokens: 1}.Doubted(), true},
	} {
		var log bytes.Buffer
		k := keeper(&log)
		for d, err := range k.WrapModel("m", &server{deltas: []model.Delta{{Usage: &c.said,
			Finish: scrollback.FinishStop}}}).Stream(t.Context(),
			model.Request{}) {
			if err != nil || !d.Usage.InBounds() || d.Usage.Estimated != c.wrong {
				t.Errorf("%s: %+v %v", name, d.Usage, err)
			}
		}
		if strings.Contains(log.String(), "cannot be") != c.wrong {
			t.Errorf("%s is logged as %q", name, log.String())
		}
	}
}

// A call is booked with no more than its window and the room for its answer, whatever its
// server says; what could be is left alone.
func TestUsageBeyondTheWindow(t *testing.T) {
	r := model.Request{Limit: 8000, MaxOutputTokens: 1000,
		Items: []scrollback.Item{{Weight: scrollback.Weight{Tokens: 5000}}}}
	for said, want := range map[int64]int64{100: 100, 8500: 8500, 19_000: 19_000, 1 << 39: 20_000} {
		k := keeper(&bytes.Buffer{})
		u := scrollback.Usage{InputTokens: said, OutputTokens: 10, TotalTokens: said + 10}
		for d, err := range k.WrapModel("m", &server{deltas: []model.Delta{{Usage: &u,
			Finish: scrollback.FinishStop}}}).Stream(t.Context(), r) {
			if err != nil || d.Usage.InputTokens != want || d.Usage.TotalTokens != want+10 ||
				d.Usage.Estimated != (said != want) {
				t.Errorf("%d is booked as %+v (%v)", said, d.Usage, err)
			}
		}
	}
	r.Items = nil
	if u := (scrollback.Usage{InputTokens: 1 << 39, OutputTokens: 1 << 39}); true {
		k := keeper(&bytes.Buffer{})
		asked := &server{deltas: []model.Delta{{Usage: &u, Finish: scrollback.FinishStop}}}
		for d := range k.WrapModel("m", asked).Stream(t.Context(),
			r) {
			if d.Usage.InputTokens != 9000 || d.Usage.OutputTokens != 9000 || d.Usage.TotalTokens != 18_000 {
				t.Errorf("%+v", d.Usage)
			}
		}
	}
}
