package remote_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// pipes is a network within the process, whose time is that of the test.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}
func (p pipes) Close() error   { close(p.closed); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }
func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	p.conns <- there
	return here, nil
}

// timed asks a server in a bubble, and says how long it took.
func timed(t *testing.T, o remote.Options, h http.HandlerFunc,
	r model.Request) (a modeltest.Answer, took time.Duration, err error) {
	t.Helper()
	p := pipes{make(chan net.Conn), make(chan struct{})}
	srv := &http.Server{Handler: h, ErrorLog: log.New(io.Discard, "", 0)}
	go srv.Serve(p)
	tr := &http.Transport{DialContext: p.dial, DisableKeepAlives: true}
	o.Client = &http.Client{Transport: tr}
	began := time.Now()
	a, err = ask(client(o), "http://acme.test/v1", r)
	took = time.Since(began)
	srv.Close()
	synctest.Wait()
	return a, took, err
}

func TestPauses(t *testing.T) {
	for name, c := range map[string]struct {
		header      func(now time.Time) (string, string)
		tries       int
		least, most time.Duration
	}{
		"doubled": {func(time.Time) (string, string) { return "X", "" }, 4, 3500 * time.Millisecond,
			5250 * time.Millisecond},
		"seconds": {func(time.Time) (string, string) { return "Retry-After", "7" }, 4, 21 * time.Second,
			21 * time.Second},
		"fraction": {func(time.Time) (string, string) { return "Retry-After", "7.5" }, 4, 22500 * time.Millisecond,
			22500 * time.Millisecond},
		"milliseconds": {func(time.Time) (string, string) { return "Retry-After-Ms", "4000" }, 4, 12 * time.Second,
			12 * time.Second},
		"date": {func(now time.Time) (string, string) {
			return "Retry-After", now.Add(20 * time.Second).UTC().Format(http.TimeFormat)
		}, 4, 57 * time.Second, 60 * time.Second},
		"date gone by": {func(now time.Time) (string, string) {
			return "Retry-After", now.Add(-time.Hour).UTC().Format(http.TimeFormat)
		}, 4, 3500 * time.Millisecond, 5250 * time.Millisecond},
		"shorter than ours": {func(time.Time) (string, string) { return "Retry-After", "0.1" }, 4, 3500 * time.Millisecond,
			5250 * time.Millisecond},
		"the bound": {func(time.Time) (string, string) { return "Retry-After", "30" }, 4, 90 * time.Second,
			90 * time.Second},
		"beyond the bound": {func(time.Time) (string, string) { return "Retry-After", "31" }, 1, 0, 0},
		"an hour":          {func(time.Time) (string, string) { return "Retry-After", "3600" }, 1, 0, 0},
		"nonsense": {func(time.Time) (string, string) { return "Retry-After", "soon" }, 4, 3500 * time.Millisecond,
			5250 * time.Millisecond},
		"not a number": {func(time.Time) (string, string) { return "Retry-After", "NaN" }, 4, 3500 * time.Millisecond,
			5250 * time.Millisecond},
		"negative": {func(time.Time) (string, string) { return "Retry-After", "-5" }, 4, 3500 * time.Millisecond,
			5250 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				_, took, err := timed(t, remote.Options{Pause: 500 * time.Millisecond},
					func(w http.ResponseWriter, r *http.Request) {
						tries++
						w.Header().Set(c.header(time.Now()))
						w.WriteHeader(http.StatusTooManyRequests)
					}, model.Request{})
				own(t, err, scrollback.RateLimited, "acme asks to wait")
				if tries != c.tries || took < c.least || took > c.most {
					t.Errorf("%d tries in %v, want %d in %v to %v", tries, took, c.tries, c.least, c.most)
				}
				if name == "an hour" {
					own(t, err, scrollback.RateLimited, "acme asks to wait 1h0m0s")
				}
			})
		})
	}
	t.Run("in the body", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			_, took, err := timed(t, remote.Options{Retries: 1}, func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(http.StatusTooManyRequests)
				io.WriteString(w, `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/`+
					`google.rpc.RetryInfo","retryDelay":"11s"}]}}`)
			}, model.Request{})
			if own(t, err, scrollback.RateLimited, "wait"); took != 11*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	})
}

// drip writes a piece every so often, until n were written or nobody reads.
func drip(w http.ResponseWriter, r *http.Request, every time.Duration, n int, piece func(i int) string) {
	io.Copy(io.Discard, r.Body) // then the server sees the client go
	w.Header().Set("Content-Type", "text/event-stream")
	for i := range n {
		select {
		case <-time.After(every):
		case <-r.Context().Done():
			return
		}
		if _, err := io.WriteString(w, piece(i)); err != nil || http.NewResponseController(w).Flush() != nil ||
			r.Context().Err() != nil {
			return
		}
	}
}

func TestSilence(t *testing.T) {
	comment := func(int) string { return ": keep-alive\n\n" }
	quiet := func(w http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body); <-r.Context().Done() }
	for name, c := range map[string]struct {
		serve func(w http.ResponseWriter, r *http.Request)
		text  string
		fails string
		took  time.Duration
	}{
		"nothing at all": {quiet, "", "it fell silent", 3 * time.Minute},
		"a head and nothing": {func(w http.ResponseWriter, r *http.Request) { stream(w); quiet(w, r) },
			"", "it fell silent", 3 * time.Minute},
		"half an answer": {func(w http.ResponseWriter, r *http.Request) { stream(w, "text half"); quiet(w, r) },
			"half", "it fell silent", 3 * time.Minute},
		"half a refusal": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			_ = http.NewResponseController(w).Flush()
			quiet(w, r)
		}, "", "fault of its own", 3 * time.Minute},
		"comments for ten minutes": {func(w http.ResponseWriter, r *http.Request) {
			drip(w, r, 10*time.Millisecond, 60_000, comment)
			good(w)
		}, "it is 42", "", 10 * time.Minute},
		"comments far apart": {func(w http.ResponseWriter,
			r *http.Request) {
			drip(w, r, 179*time.Second, 5, comment)
			good(w)
		},
			"it is 42", "", 5 * 179 * time.Second},
		"blank lines": {func(w http.ResponseWriter, r *http.Request) {
			drip(w, r, time.Minute, 14, func(int) string { return "\n" })
			good(w)
		}, "it is 42", "", 14 * time.Minute},
		"comments, and then nothing": {func(w http.ResponseWriter,
			r *http.Request) {
			drip(w, r, time.Minute, 5, comment)
			quiet(w, r)
		},
			"", "it fell silent", 8 * time.Minute},
		"comments without end": {func(w http.ResponseWriter, r *http.Request) { drip(w, r, time.Minute, 1000, comment) },
			"", "did not begin its answer", 15 * time.Minute},
		"text, and comments for half an hour": {func(w http.ResponseWriter, r *http.Request) {
			stream(w, "text it is")
			drip(w, r, time.Minute, 30, comment)
			stream(w, "text 42", "finish stop")
		}, "it is42", "", 30 * time.Minute},
		"text without end": {func(w http.ResponseWriter, r *http.Request) {
			drip(w, r, time.Minute+time.Second, 1000, func(int) string { return "data: text .\n\n" })
		}, strings.Repeat(".", 59), "went beyond 1h0m0s", time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, took, err := timed(t, remote.Options{Retries: -1}, c.serve, model.Request{})
				if c.fails != "" {
					own(t, err, scrollback.Unavailable, c.fails)
				} else if err != nil {
					t.Error(err)
				}
				if a.Text != c.text || took != c.took {
					t.Errorf("%q in %v, want %q in %v", a.Text, took, c.text, c.took)
				}
				if bounded := strings.Contains(c.fails, "beyond"); bounded != errors.Is(err, scrollback.ErrReplyBound) {
					t.Errorf("%v", err)
				}
			})
		})
	}
}

// The bound of an answer holds for each try.
func TestDuration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, took, err := timed(t, remote.Options{}, func(w http.ResponseWriter, r *http.Request) {
			drip(w, r, time.Second, 1000, func(i int) string { return fmt.Sprintf("data: text %d\n\n", i) })
		}, model.Request{Bounds: model.Bounds{Duration: 3500 * time.Millisecond}})
		own(t, err, scrollback.Unavailable, "went beyond 3.5s")
		if a.Text != "012" || took != 3500*time.Millisecond {
			t.Errorf("%q in %v", a.Text, took)
		}
	})
}
