// Package metrics counts what a server does, for Prometheus, and sends traces where the
// operator wants them.
//
// Invariants: requests are named by their routes, never by their addresses, so that series
// do not grow with use and say nothing about anybody. Traces leave in batches, and are
// dropped rather than waited for.
//
// It knows who called, and nothing about what is served.
package metrics

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	promexporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/server/access"
)

// Options configure what is reported.
type Options struct {
	Version string
	// Traces sends traces by OTLP over HTTP; where to, and what with, is read from the
	// usual OTEL_EXPORTER_OTLP_… variables.
	Traces bool
}

// maxSeries bounds the series of one metric; what is counted beyond it is counted together.
const maxSeries = 500

// Metrics hold what is counted. Close sends what is left.
type Metrics struct {
	meters   *sdkmetric.MeterProvider
	tracers  trace.TracerProvider
	flush    func(context.Context) error
	registry *prometheus.Registry
}

// New begins to count.
func New(ctx context.Context, o Options) (*Metrics, error) {
	const op = "metrics.New"
	m := &Metrics{registry: prometheus.NewRegistry(), tracers: noop.NewTracerProvider(),
		flush: func(context.Context) error { return nil }}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	who := resource.NewSchemaless(attribute.String("service.name", "scrollback"),
		attribute.String("service.version", o.Version))
	reader, err := promexporter.New(promexporter.WithRegisterer(m.registry), promexporter.WithoutScopeInfo())
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Internal, op, err)
	}
	// The port is what clients say it is: it would make a series for each that is made up.
	// So are other things that the library counts by; and the sizes of bodies are a histogram for each
	// route and status that nobody asked for.
	named := sdkmetric.NewView(sdkmetric.Instrument{Name: "http.server.request.duration"}, sdkmetric.Stream{
		AttributeFilter: attribute.NewAllowKeysFilter("http.request.method", "http.route", "http.response.status_code"),
		Aggregation:     sdkmetric.AggregationExplicitBucketHistogram{Boundaries: []float64{0.01, 0.1, 1, 10}}})
	sizes := sdkmetric.NewView(sdkmetric.Instrument{Name: "http.server.*.body.size"},
		sdkmetric.Stream{Aggregation: sdkmetric.AggregationDrop{}})
	m.meters = sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader), sdkmetric.WithResource(who),
		sdkmetric.WithView(named, sizes),
		sdkmetric.WithCardinalityLimit(maxSeries))
	if o.Traces {
		out, err := otlptracehttp.New(ctx)
		if err != nil {
			return nil, scrollback.ParamErrorf(op, "traces", i18n.TracesCannotBeSent, err)
		}
		tp := sdktrace.NewTracerProvider(sdktrace.WithBatcher(out), sdktrace.WithResource(who))
		m.tracers = tp
		m.flush = tp.Shutdown
	}
	return m, nil
}

// Tracers makes tracers, which do nothing unless traces are sent.
func (m *Metrics) Tracers() trace.TracerProvider { return m.tracers }

// Meters makes meters.
func (m *Metrics) Meters() metric.MeterProvider { return m.meters }

// Close sends what is left, until ctx ends.
func (m *Metrics) Close(ctx context.Context) error {
	return scrollback.Wrap(scrollback.Unavailable, "metrics.Close", errors.Join(m.flush(ctx), m.meters.Shutdown(ctx)))
}

// Handler shows what was counted in Prometheus' format.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

// CountRequests counts the requests of a mux. A turn is a part of its caller's trace if that
// names one. The requests themselves have no spans: those would tell their addresses, and
// so what was searched for.
func (m *Metrics) CountRequests(mux http.Handler) http.Handler {
	return otelhttp.NewHandler(mux, "request", otelhttp.WithServerName("scrollback"), otelhttp.WithMeterProvider(m.meters),
		otelhttp.WithTracerProvider(noop.NewTracerProvider()),
		otelhttp.WithPropagators(propagation.TraceContext{}),
		otelhttp.WithFilter(func(r *http.Request) bool { return !isPolled(r) }))
}

// LogRequests writes a line for each request of a mux, if the log takes lines of that level. It
// names the route, and the caller by the name of its key; no address, no query, no content.
func LogRequests(log *slog.Logger, mux http.Handler) http.Handler {
	if !log.Enabled(context.Background(), slog.LevelInfo) {
		return mux
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isPolled(r) {
			mux.ServeHTTP(w, r)
			return
		}
		sent := &sentResponse{ResponseWriter: w, began: time.Now(), status: http.StatusOK}
		mux.ServeHTTP(sent, r)
		sent.log(log, r)
	})
}

// sentResponse is a response that knows what was sent of it. Its writer is unwrapped by http.ResponseController.
type sentResponse struct {
	http.ResponseWriter
	began  time.Time
	status int
	headed bool
	bytes  int64
}

// WriteHeader notes the status.
func (s *sentResponse) WriteHeader(status int) {
	s.ResponseWriter.WriteHeader(status)
	if status >= http.StatusOK && !s.headed {
		s.status = status
		s.headed = true
	}
}

// Write counts what is sent.
func (s *sentResponse) Write(b []byte) (int, error) {
	n, err := s.ResponseWriter.Write(b)
	s.bytes += int64(n)
	s.headed = true
	return n, err
}

// Unwrap serves http.ResponseController.
func (s *sentResponse) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// log writes the line of a request that has been answered. The handler does not call it itself: what stands
// on the stack of a stream is kept for as long as it runs.
func (s *sentResponse) log(log *slog.Logger, r *http.Request) {
	line := []any{"method", r.Method, "route", strings.TrimPrefix(r.Pattern, r.Method+" "), "status", s.status, "ms",
		time.Since(s.began).Milliseconds(), "bytes", s.bytes}
	if id := s.Header().Get("X-Request-Id"); id != "" {
		line = append(line, "request", id)
	}
	if name := access.CallerOf(r.Context()).Name; name != "" {
		line = append(line, "caller", name)
	}
	log.Info("request", line...)
}

// isPolled reports whether a request is one that monitoring sends again and again.
func isPolled(r *http.Request) bool {
	return r.URL.Path == "/metrics" || r.URL.Path == "/healthz" || r.URL.Path == "/livez" || r.URL.Path == "/readyz"
}
