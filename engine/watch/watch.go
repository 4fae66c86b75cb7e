// Package watch says what turns are doing to those who run a server: spans and metrics by
// OpenTelemetry's conventions for generative AI.
//
// A turn is an invoke_agent span, which a request that begins it may be the parent of; its
// parts (begin, assemble, chat, execute_tool, finish, compact) are below it. Everything is
// found through the context, and does nothing in one that nobody watches.
//
// Invariants: ids, names, counts and times only; never what anybody said, a key, or the
// address of a provider. What leaves the process does so later, off the path of a turn.
package watch

import (
	"context"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/scrollback-ai/scrollback"
)

// scope names this program in what it reports.
const scope = "github.com/scrollback-ai/scrollback"

// Watch makes the spans and counts. A nil one does nothing.
type Watch struct {
	tracer trace.Tracer

	turns, compactions metric.Int64Counter
	open               metric.Int64UpDownCounter
	tokens             metric.Int64Histogram
	calls, first       metric.Float64Histogram

	answered struct {
		sync.Mutex
		names map[string]bool
	}
}

// Metrics name the models that have answered, up to a maximum: callers may name any, and
// some servers answer to every name. The others are counted together; spans have their names.
const (
	maxModels   = 64
	otherModels = "other"
)

// countedName is by what name a model is counted, once it has answered or again.
func (w *Watch) countedName(name string, answers bool) string {
	a := &w.answered
	a.Lock()
	defer a.Unlock()
	if !a.names[name] && (!answers || len(a.names) >= maxModels) {
		return otherModels
	}
	if a.names == nil {
		a.names = map[string]bool{}
	}
	a.names[name] = true
	return name
}

// New makes a watch. Both providers are needed; those of the noop packages do nothing.
func New(tp trace.TracerProvider, mp metric.MeterProvider) (*Watch, error) {
	w := &Watch{tracer: tp.Tracer(scope)}
	m := mp.Meter(scope)
	seconds := metric.WithExplicitBucketBoundaries(0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24,
		20.48, 40.96, 81.92)
	var errs [6]error
	w.turns, errs[0] = m.Int64Counter("scrollback.turns", metric.WithUnit("{turn}"),
		metric.WithDescription("Turns that ended."))
	w.compactions, errs[1] = m.Int64Counter("scrollback.compactions", metric.WithUnit("{compaction}"),
		metric.WithDescription("Compactions that were committed."))
	w.open, errs[2] = m.Int64UpDownCounter("scrollback.turns.open", metric.WithUnit("{turn}"),
		metric.WithDescription("Turns that run now."))
	w.tokens, errs[3] = m.Int64Histogram("gen_ai.client.token.usage", metric.WithUnit("{token}"),
		metric.WithDescription("Tokens of a call to a model."),
		metric.WithExplicitBucketBoundaries(1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576))
	w.calls, errs[4] = m.Float64Histogram("gen_ai.client.operation.duration", metric.WithUnit("s"),
		metric.WithDescription("Time of a call to a model."), seconds)
	w.first, errs[5] = m.Float64Histogram("gen_ai.client.operation.time_to_first_chunk", metric.WithUnit("s"),
		metric.WithDescription("Time until a model says something."), seconds)
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return w, nil
}

type watchKey struct{}

func fromContext(ctx context.Context) *Watch {
	w, _ := ctx.Value(watchKey{}).(*Watch)
	return w
}

// BeginTurn begins the span of a turn.
func (w *Watch) BeginTurn(ctx context.Context, id scrollback.ConversationID) context.Context {
	if w == nil {
		return ctx
	}
	ctx, _ = w.tracer.Start(ctx, "invoke_agent scrollback",
		trace.WithAttributes(attribute.String("gen_ai.operation.name", "invoke_agent"),
			attribute.String("gen_ai.agent.name", "scrollback"), attribute.String("gen_ai.conversation.id", string(id))))
	w.open.Add(ctx, 1)
	return context.WithValue(ctx, watchKey{}, w)
}

// WithWatch returns ctx in which what happens outside turns is told too: a compaction by hand, a title. A
// turn's own ctx stays as it is.
func (w *Watch) WithWatch(ctx context.Context) context.Context {
	if w == nil || fromContext(ctx) != nil {
		return ctx
	}
	return context.WithValue(ctx, watchKey{}, w)
}

// WithTurn returns base with the turn of ctx: what goes on after the request that began it.
func WithTurn(base, ctx context.Context) context.Context {
	w := fromContext(ctx)
	if w == nil {
		return base
	}
	return context.WithValue(trace.ContextWithSpan(base, trace.SpanFromContext(ctx)), watchKey{}, w)
}

// EndRefused ends the span of a turn that was refused, or answered by an earlier one.
func EndRefused(ctx context.Context, err error) {
	if w := fromContext(ctx); w != nil {
		w.open.Add(ctx, -1)
		endSpan(trace.SpanFromContext(ctx), err)
	}
}

// EndTurn ends the span of a turn.
func EndTurn(ctx context.Context, last scrollback.DoneEvent, used scrollback.Usage, err error) {
	w := fromContext(ctx)
	if w == nil {
		return
	}
	w.open.Add(ctx, -1)
	w.turns.Add(ctx, 1, metric.WithAttributes(attribute.String("scrollback.turn.status", string(last.Status))))
	span := trace.SpanFromContext(ctx)
	span.SetAttributes(attribute.String("scrollback.turn.id", string(last.TurnID)),
		attribute.String("scrollback.turn.status", string(last.Status)))
	span.SetAttributes(usageAttributes(used)...)
	endSpan(span, err)
}

// BeginPart begins the span of a part of a turn, and returns how it ends.
func BeginPart(ctx context.Context, name string) (context.Context, func(error)) {
	w := fromContext(ctx)
	if w == nil {
		return ctx, func(error) {}
	}
	ctx, span := w.tracer.Start(ctx, name)
	return ctx, func(err error) { endSpan(span, err) }
}

// BeginTool begins the span of a look-up that a model calls for.
func BeginTool(ctx context.Context, call scrollback.ToolCall) (context.Context, func(error)) {
	ctx, done := BeginPart(ctx, "execute_tool "+call.Name)
	trace.SpanFromContext(ctx).SetAttributes(attribute.String("gen_ai.operation.name", "execute_tool"),
		attribute.String("gen_ai.tool.name", call.Name), attribute.String("gen_ai.tool.call.id", call.ID))
	return ctx, done
}

// NoteCompaction notes on the span of a compaction what it did.
func NoteCompaction(ctx context.Context, r scrollback.Receipt) {
	w := fromContext(ctx)
	if w == nil {
		return
	}
	trace.SpanFromContext(ctx).SetAttributes(attribute.String("scrollback.compaction.result", string(r.Result)),
		attribute.Int64("scrollback.compaction.tokens_before", r.TokensBefore),
		attribute.Int64("scrollback.compaction.tokens_after", r.TokensAfter))
	if r.Result == scrollback.ResultCompacted {
		w.compactions.Add(ctx, 1)
	}
}

// Call is one call to a model.
type Call struct {
	ctx   context.Context
	w     *Watch
	model []attribute.KeyValue
	began time.Time
	name  string
	heard bool
}

// callLabels returns what a call is counted by.
func (c *Call) callLabels(more ...attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributes(append([]attribute.KeyValue{c.model[0], c.model[1],
		attribute.String("gen_ai.request.model", c.w.countedName(c.name, c.heard))}, more...)...)
}

// BeginCall begins the span of a call to a model, by its full name.
func BeginCall(ctx context.Context, name string) (context.Context, *Call) {
	w := fromContext(ctx)
	if w == nil {
		return ctx, nil
	}
	provider, _, _ := strings.Cut(name, "/")
	c := &Call{w: w, began: time.Now(), name: name,
		model: []attribute.KeyValue{attribute.String("gen_ai.operation.name", "chat"),
			attribute.String("gen_ai.provider.name", provider), attribute.String("gen_ai.request.model", name)}}
	c.ctx, _ = w.tracer.Start(ctx, "chat "+name, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(c.model...))
	return c.ctx, c
}

// NoteFirst notes that something came; the first time counts.
func (c *Call) NoteFirst() {
	if c == nil || c.heard {
		return
	}
	c.heard = true
	after := time.Since(c.began).Seconds()
	c.w.first.Record(c.ctx, after, c.callLabels())
	span := trace.SpanFromContext(c.ctx)
	span.AddEvent("first token")
	span.SetAttributes(attribute.Float64("gen_ai.response.time_to_first_chunk", after))
}

// End ends the call.
func (c *Call) End(finish string, used scrollback.Usage, err error) {
	if c == nil {
		return
	}
	span := trace.SpanFromContext(c.ctx)
	if finish != "" {
		span.SetAttributes(attribute.StringSlice("gen_ai.response.finish_reasons", []string{finish}))
	}
	span.SetAttributes(usageAttributes(used)...)
	var how []attribute.KeyValue
	if err != nil {
		how = append(how, attribute.String("error.type", string(scrollback.CodeOf(err))))
	}
	c.w.calls.Record(c.ctx, time.Since(c.began).Seconds(), c.callLabels(how...))
	for kind, n := range map[string]int64{"input": used.InputTokens, "output": used.OutputTokens} {
		if n > 0 {
			c.w.tokens.Record(c.ctx, n, c.callLabels(attribute.String("gen_ai.token.type", kind)))
		}
	}
	endSpan(span, err)
}

func usageAttributes(u scrollback.Usage) []attribute.KeyValue {
	return []attribute.KeyValue{attribute.Int64("gen_ai.usage.input_tokens", u.InputTokens),
		attribute.Int64("gen_ai.usage.output_tokens", u.OutputTokens),
		attribute.Int64("gen_ai.usage.cache_read.input_tokens", u.CachedTokens),
		attribute.Int64("gen_ai.usage.cache_creation.input_tokens", u.CacheWriteTokens)}
}

// endSpan ends a span; of an error only the code is said.
func endSpan(span trace.Span, err error) {
	if err != nil {
		code := string(scrollback.CodeOf(err))
		span.SetAttributes(attribute.String("error.type", code))
		span.SetStatus(codes.Error, code)
	}
	span.End()
}
