package local_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/local"
	"github.com/scrollback-ai/scrollback/model"
)

// faulty is a model whose stream is the test's.
type faulty struct {
	name   string
	stream func(yield func(model.Delta, error) bool)
}

func (f faulty) Facts() model.Facts { return model.Facts{Name: f.name, Limit: 8000, NoSummaries: true} }

func (f faulty) Stream(context.Context, model.Request) iter.Seq2[model.Delta, error] { return f.stream }

// panicking panics before it streams anything.
type panicking struct{ faulty }

func (panicking) Stream(context.Context, model.Request) iter.Seq2[model.Delta, error] {
	panic("the weights are missing")
}

// missing has no stream, and unknown panics when it is asked what it is.
type (
	missing struct{ faulty }
	unknown struct{ faulty }
)

func (missing) Stream(context.Context, model.Request) iter.Seq2[model.Delta, error] { return nil }

func (unknown) Facts() model.Facts { panic("the weights are not there yet") }

// TestFaultsOfAnOwnModel: what a model of the program's own does wrong is an error of the turn,
// in its own words, and the conversation goes on.
func TestFaultsOfAnOwnModel(t *testing.T) {
	ctx := t.Context()
	models := map[string]model.Model{
		"plain": faulty{"plain", func(yield func(model.Delta, error) bool) {
			yield(model.Delta{}, errors.New("the cable is loose"))
		}},
		"late": faulty{"late", func(yield func(model.Delta, error) bool) {
			if yield(model.Delta{Text: "It begins well"}, nil) {
				yield(model.Delta{}, errors.New("the cable is loose"))
			}
		}},
		"known": faulty{"known", func(yield func(model.Delta, error) bool) {
			yield(model.Delta{}, scrollback.Errorf(scrollback.Refused, "known", "the cable is not yours"))
		}},
		"panics": panicking{faulty{name: "panics"}},
		"panics late": faulty{"panics late", func(yield func(model.Delta, error) bool) {
			if yield(model.Delta{Text: "It begins well"}, nil) {
				panic(errors.New("the weights are missing"))
			}
		}},
		"heedless": faulty{"heedless", func(yield func(model.Delta, error) bool) {
			yield(model.Delta{}, errors.New("the cable is loose"))
			yield(model.Delta{Text: "and so on"}, nil)
			yield(model.Delta{Finish: scrollback.FinishStop}, nil)
		}},
		"tidies up": faulty{"tidies up", func(yield func(model.Delta, error) bool) {
			defer panic("the cable cannot be pulled")
			yield(model.Delta{}, errors.New("the cable is loose"))
		}},
		"missing": missing{faulty{name: "missing"}},
		"unknown": unknown{},
		"nobody":  (*pointer)(nil),
		"shout":   shout{},
	}
	log := &synced{w: new(bytes.Buffer)}
	sb, err := local.Open(ctx, "", &local.Options{Database: "memory:", Model: "shout", Models: models,
		Engine: engine.Options{Log: slog.New(slog.NewTextHandler(log, nil))}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sb.Close() })
	for _, c := range []struct {
		model, says string
		code        scrollback.Code
	}{
		{"plain", "the model plain failed: the cable is loose", scrollback.Unavailable},
		{"late", "the model late failed: the cable is loose", scrollback.Unavailable},
		{"known", "the cable is not yours", scrollback.Refused},
		{"panics", "the model panics panicked: the weights are missing", scrollback.Unavailable},
		{"panics late", "the model panics late panicked: the weights are missing", scrollback.Unavailable},
		{"heedless", "the model heedless failed: the cable is loose", scrollback.Unavailable},
		{"tidies up", "the model tidies up failed: the cable is loose", scrollback.Unavailable},
		{"missing", "the model missing panicked: ", scrollback.Unavailable},
		{"unknown", "the model unknown panicked: the weights are not there yet", scrollback.Unavailable},
		{"nobody", "the model nobody panicked: ", scrollback.Unavailable},
	} {
		made, _, err := sb.Create(ctx, scrollback.Conversation{})
		if err != nil {
			t.Fatal(err)
		}
		ask := engine.TurnRequest{Conversation: made.ID, Message: scrollback.Say("hello?"),
			Overrides: engine.Overrides{Model: c.model}}
		_, err = scrollback.ReplyOf(sb.Turn(ctx, ask))
		if scrollback.CodeOf(err) != c.code || !strings.Contains(scrollback.PublicMessage(err), c.says) {
			t.Errorf("%s: %v (shown as %q), want %s: %s", c.model, err, scrollback.PublicMessage(err), c.code, c.says)
		}
		ask = engine.TurnRequest{Conversation: made.ID, Message: scrollback.Say("still there?")}
		if reply, err := scrollback.ReplyOf(sb.Turn(ctx, ask)); err != nil || strings.TrimSpace(reply) != "STILL THERE?" {
			t.Errorf("after %s: %q, %v", c.model, reply, err)
		}
		begins := c.model != "unknown" && c.model != "nobody" // the others are refused before a turn is there
		if logged := log.take(); begins && !strings.Contains(logged, c.says) {
			t.Errorf("%s: %q is not in the log:\n%s", c.model, c.says, logged)
		}
	}
}

// pointer is a model that a program forgot to make.
type pointer struct{ faulty }

// synced writes for many goroutines.
type synced struct {
	mu sync.Mutex
	w  *bytes.Buffer
}

func (s *synced) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(p)
}

func (s *synced) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.w.String()
	s.w.Reset()
	return text
}

// TestMemoryNeedsNoFolder: a database in memory is opened without naming a folder; one that
// lasts is not.
func TestMemoryNeedsNoFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	sb, err := local.Open(t.Context(), "", &local.Options{Database: "memory:"})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := sb.Create(t.Context(), scrollback.Conversation{}); err != nil {
		t.Error(err)
	}
	if err := sb.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir("."); err != nil || len(left) != 0 {
		t.Errorf("it left %v, %v", left, err)
	}
	for _, database := range []string{"", "%", "sqlite://relative"} {
		if _, err := local.Open(t.Context(), "",
			&local.Options{Database: database}); scrollback.CodeOf(err) != scrollback.Invalid {
			t.Errorf("%q without a folder: %v", database, err)
		}
	}
}
