package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/engine/watch"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// watched is what somebody who watches a rig gets to see.
type watched struct {
	t      *testing.T
	spans  *tracetest.SpanRecorder
	reader *sdkmetric.ManualReader
	watch  *watch.Watch
}

func newWatched(t *testing.T) *watched {
	t.Helper()
	w := &watched{t: t, spans: tracetest.NewSpanRecorder(), reader: sdkmetric.NewManualReader()}
	var err error
	w.watch, err = watch.New(trace.NewTracerProvider(trace.WithSpanProcessor(w.spans)),
		sdkmetric.NewMeterProvider(sdkmetric.WithReader(w.reader)))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// tree draws the spans that ended, each below its parent, in the order of their ends.
func (w *watched) tree() string {
	var b strings.Builder
	var draw func(parent trace.ReadOnlySpan, depth int)
	draw = func(parent trace.ReadOnlySpan, depth int) {
		for _, s := range w.spans.Ended() {
			if parent == nil && !s.Parent().IsValid() || parent != nil && s.Parent().SpanID() == parent.SpanContext().SpanID() {
				fmt.Fprintf(&b, "%s%s", strings.Repeat("  ", depth), s.Name())
				for _, e := range s.Events() {
					b.WriteString(" · " + e.Name)
				}
				if s.Status().Description != "" {
					b.WriteString(" ! " + s.Status().Description)
				}
				b.WriteString("\n")
				draw(s, depth+1)
			}
		}
	}
	draw(nil, 0)
	return b.String()
}

// said returns everything that is told about the spans and in the metrics.
func (w *watched) said() string {
	var b strings.Builder
	for _, s := range w.spans.Ended() {
		fmt.Fprintln(&b, s.Name(), s.Attributes(), s.Events(), s.Status())
	}
	return b.String() + w.metrics()
}

// metrics returns everything that is told in the metrics.
func (w *watched) metrics() string {
	var b strings.Builder
	var m metricdata.ResourceMetrics
	if err := w.reader.Collect(context.Background(), &m); err != nil {
		w.t.Fatal(err)
	}
	for _, scope := range m.ScopeMetrics {
		for _, one := range scope.Metrics {
			fmt.Fprintf(&b, "%s %+v\n", one.Name, one.Data)
		}
	}
	return b.String()
}

// open returns how many turns run, as the metrics tell it.
func (w *watched) open() (n int64) {
	var m metricdata.ResourceMetrics
	if err := w.reader.Collect(context.Background(), &m); err != nil {
		w.t.Fatal(err)
	}
	for _, scope := range m.ScopeMetrics {
		for _, one := range scope.Metrics {
			if one.Name == "scrollback.turns.open" {
				for _, p := range one.Data.(metricdata.Sum[int64]).DataPoints {
					n += p.Value
				}
				return n
			}
		}
	}
	w.t.Fatal("nothing is told about open turns")
	return 0
}

// A turn is a span with its parts below it, and nothing of what was said is told.
func TestWatchedTurn(t *testing.T) {
	w := newWatched(t)
	r := enginetest.New(t, enginetest.Options{Watch: w.watch, NoFolds: true},
		modeltest.Call(enginetest.Call("c1", "context_search", `{"query":"tulips"}`)),
		modeltest.Say("the secret ", "is tulips"))
	id := r.NewConversation()
	r.Ask(id, "What about the tulips?").WantDone(t, scrollback.TurnComplete, "stop")
	r.Engine.Rest()
	want := `invoke_agent scrollback
  begin
  assemble
  chat script · first token
  execute_tool context_search
  finish
  assemble
  chat script · first token
  finish
`
	if got := w.tree(); got != want {
		t.Errorf("the spans are\n%s", got)
	}
	said := w.said()
	for _, part := range []string{string(id), "gen_ai.usage.output_tokens", "gen_ai.client.token.usage",
		"scrollback.turns "} {
		if !strings.Contains(said, part) {
			t.Errorf("nothing is told about %s", part)
		}
	}
	if strings.Contains(said, "tulips") {
		t.Errorf("what was said is told:\n%s", said)
	}
}

// A turn that fails and one that is refused say by which code, and not in which words; and
// no turn stays open.
func TestWatchedFailure(t *testing.T) {
	w := newWatched(t)
	r := enginetest.New(t, enginetest.Options{Watch: w.watch, NoFolds: true},
		modeltest.Step{Err: scrollback.Wrap(scrollback.Unavailable, "test", errors.New("tulips at https://example.org"))})
	id := r.NewConversation()
	r.Ask(id, "What about the tulips?").WantDone(t, scrollback.TurnFailed, "")
	r.Engine.Rest() // the span of the first ends before the second begins
	enginetest.WantCode(t, r.Ask("01a1fb8d-0000-7000-8000-000000000000", "tulips").Err, scrollback.NotFound, "")
	r.Engine.Rest()
	want := `invoke_agent scrollback ! unavailable
  begin
  assemble
  chat script ! unavailable
invoke_agent scrollback ! not_found
  begin ! not_found
`
	if got := w.tree(); got != want {
		t.Errorf("the spans are\n%s", got)
	}
	said := w.said()
	if strings.Contains(said, "tulips") || strings.Contains(said, "example.org") {
		t.Errorf("what was said is told:\n%s", said)
	}
	if open := w.open(); open != 0 {
		t.Errorf("%d turns are open", open)
	}
}

// A compaction is told below the turn that it was made for, also when it is made behind it.
func TestWatchedCompaction(t *testing.T) {
	w := newWatched(t)
	r := enginetest.New(t, enginetest.Options{Watch: w.watch}, modeltest.Step{Reply: func(model.Request) []model.Delta {
		return []model.Delta{{Text: strings.Repeat("a long answer about nothing much. ", 60)}}
	}})
	id := r.NewConversation()
	for range 24 {
		r.Ask(id, strings.Repeat("a long question about nothing much. ", 30)).WantDone(t, scrollback.TurnComplete, "stop")
		r.Engine.Rest()
	}
	lines := strings.Split(w.tree(), "\n")
	if !slices.Contains(lines, "  compact") || slices.Contains(lines, "compact") {
		t.Errorf("the spans are\n%s", w.tree())
	}
	if !strings.Contains(w.said(), "scrollback.compaction.tokens_before") {
		t.Error("nothing is told about a compaction")
	}
}

// A model is counted by its name once it has answered; names that callers make up make no series
// of their own, even where a server answers to all of them.
func TestCallersMakeNoSeries(t *testing.T) {
	w := newWatched(t)
	ctx := w.watch.BeginTurn(t.Context(), "01a1fb8d-0000-7000-8000-000000000000")
	ask := func(name string, heard bool) {
		_, call := watch.BeginCall(ctx, name)
		if heard {
			call.NoteFirst()
			call.End("stop", scrollback.Usage{InputTokens: 7, OutputTokens: 3}, nil)
			return
		}
		call.End("", scrollback.Usage{}, scrollback.Errorf(scrollback.Unavailable, "test", "down"))
	}
	ask("ollama/real", true)
	ask("ollama/real", false)
	for i := range 300 {
		ask(fmt.Sprintf("ollama/silent-%d", i), false)
	}
	if said := w.metrics(); strings.Contains(said, "silent") || !strings.Contains(said, "ollama/real") {
		t.Error("models that never answered have series, or the one that did has none")
	}
	for i := range 300 {
		ask(fmt.Sprintf("ollama/eager-%d", i), true)
	}
	var m metricdata.ResourceMetrics
	if err := w.reader.Collect(t.Context(), &m); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, one := range m.ScopeMetrics[0].Metrics {
		if h, ok := one.Data.(metricdata.Histogram[float64]); ok && one.Name == "gen_ai.client.operation.duration" {
			n = len(h.DataPoints)
		}
	}
	if n < 60 || n > 70 {
		t.Errorf("%d series of calls", n)
	}
}

// A compaction by hand is told by itself, with the summary that a model was asked for; and so is a
// title.
func TestWatchedOutsideTurns(t *testing.T) {
	w := newWatched(t)
	r := enginetest.New(t, enginetest.Options{Watch: w.watch, Summaries: true, NoFolds: true, Titles: engine.TitlesModel},
		modeltest.Step{Reply: func(model.Request) []model.Delta {
			return []model.Delta{{Text: strings.Repeat("a long answer about nothing much. ", 60)}}
		}})
	id := r.NewConversation()
	for range 4 {
		r.Ask(id, strings.Repeat("a long question about nothing much. ", 30)).WantDone(t, scrollback.TurnComplete, "stop")
		r.Engine.Rest()
	}
	made, err := r.View.Compact(t.Context(), id, engine.CompactRequest{Force: true})
	if err != nil || made.Result != scrollback.ResultCompacted {
		t.Fatalf("%+v, %v", made, err)
	}
	tree := w.tree()
	if !strings.Contains(tree, "\ncompact\n  chat ") {
		t.Errorf("the spans are\n%s", tree)
	}
	if !strings.Contains(tree, "\nchat ") {
		t.Errorf("no call for a title in\n%s", tree)
	}
	if !strings.Contains(w.said(), "scrollback.compactions {DataPoints:[{Attributes:{") {
		t.Errorf("the compaction is not counted:\n%s", w.said())
	}
}
