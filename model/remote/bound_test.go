package remote_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// endless writes a piece again and again until nobody reads, or 200 MB are written.
func endless(piece string) http.HandlerFunc {
	chunk := strings.Repeat(piece, max(1, 64<<10/len(piece)))
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for n := 0; n < 200<<20; n += len(chunk) {
			if _, err := io.WriteString(w, chunk); err != nil {
				return
			}
		}
	}
}

func TestBounds(t *testing.T) {
	count := func(a modeltest.Answer) (payloads int) {
		for _, d := range a.Deltas {
			payloads += len(d.Opaque)
		}
		return payloads
	}
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		words string
		kept  func(a modeltest.Answer) bool
	}{
		"text": {endless("data: text 0123456789\n\n"), "beyond 1005 characters of text",
			func(a modeltest.Answer) bool { return len(a.Text) == 1005 && strings.HasSuffix(a.Text, "01234") }},
		"wide text": {endless("data: text 四十二\n\n"), "beyond 1005 characters of text",
			func(a modeltest.Answer) bool { return a.Text == strings.Repeat("四十二", 335) }},
		"one text": {endless("data: text " + strings.Repeat("x", 60<<10) + "\n\n"), "beyond 1005 characters",
			func(a modeltest.Answer) bool { return a.Text == strings.Repeat("x", 1005) }},
		"reasoning": {endless("data: thought 0123456789\n\n"), "beyond 507 characters of reasoning",
			func(a modeltest.Answer) bool { return len(a.Reasoning) == 507 }},
		"calls": {endless("data: call c\n\n"), "beyond 7 calls", func(a modeltest.Answer) bool { return len(a.Calls) == 7 }},
		"arguments": {endless("data: arguments 0123456789\n\n"), "beyond 2000 bytes of arguments",
			func(a modeltest.Answer) bool { return len(a.Deltas) == 0 }},
		"payloads": {endless("data: payload 01234567\n\n"), "beyond 1000 bytes of payloads",
			func(a modeltest.Answer) bool { return count(a) == 1000 }},
		"gathered": {endless("data: gathered " + strings.Repeat("x", 1001) + "\n\n"), "beyond 1000 bytes of payloads",
			func(a modeltest.Answer) bool { return len(a.Deltas) == 0 }},
		"a frame": {endless("x"), "beyond 100000 bytes in one frame",
			func(a modeltest.Answer) bool { return len(a.Deltas) == 0 }},
		"a frame's data": {func(w http.ResponseWriter, r *http.Request) {
			stream(w, "text a")
			io.WriteString(w, "data: text ")
			endless("y")(w, r)
		}, "beyond 100000 bytes in one frame", func(a modeltest.Answer) bool { return a.Text == "a" }},
		"a comment": {func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, ": "); endless("z")(w, r) },
			"beyond 100000 bytes in one frame", func(a modeltest.Answer) bool { return len(a.Deltas) == 0 }},
		"lines of one event": {endless("data: text a\n"), "beyond 100000 bytes in one frame",
			func(a modeltest.Answer) bool { return len(a.Deltas) == 0 }},
	} {
		t.Run(name, func(t *testing.T) {
			tries := 0
			srv := serve(t, func(w http.ResponseWriter, r *http.Request) { tries++; c.serve(w, r) })
			a, err := ask(client(remote.Options{}), srv.URL,
				model.Request{Bounds: model.Bounds{Chars: 1005, ReasoningChars: 507, ArgumentBytes: 2000, OpaqueBytes: 1000,
					Calls:      7,
					FrameBytes: 100_000}})
			own(t, err, scrollback.Unavailable, c.words)
			if !errors.Is(err, scrollback.ErrReplyBound) || tries != 1 || !c.kept(a) {
				t.Errorf("%d tries, %d deltas, text %.20q, %v", tries, len(a.Deltas), a.Text, err)
			}
		})
	}
}

// peak returns the most memory in use while f runs and calls look.
func peak(f func(look func())) uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before := m.HeapAlloc
	most := m.HeapAlloc
	f(func() {
		runtime.ReadMemStats(&m)
		most = max(most, m.HeapAlloc)
	})
	return most - before
}

// Whatever a server sends, little of it is held: 200 MB pass through a few.
func TestMemory(t *testing.T) {
	testlength.SkipShort(t)
	const most = 48 << 20
	for name, c := range map[string]struct {
		serve  http.HandlerFunc
		bounds model.Bounds
		ends   bool // with a bound
	}{
		"text":     {endless("data: text " + strings.Repeat("x", 30<<10) + "\n\n"), model.Bounds{Chars: 1 << 40}, false},
		"comments": {endless(": keep-alive\n\n"), model.Bounds{}, false},
		"a frame":  {endless("data: text"), model.Bounds{}, true},
		"a head": {func(w http.ResponseWriter, r *http.Request) {
			conn, buf, err := http.NewResponseController(w).Hijack()
			if err != nil {
				panic(err)
			}
			defer conn.Close()
			io.WriteString(buf, "HTTP/1.1 200 OK\r\n")
			for range 200 << 20 / 1000 {
				if _, err := io.WriteString(buf, "X-More: "+strings.Repeat("y", 990)+"\r\n"); err != nil {
					return
				}
			}
		}, model.Bounds{}, false},
		"a refusal": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			endless(`{"error":"`)(w, r)
		}, model.Bounds{}, false},
		"a bomb": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			for range 200 {
				if _, err := z.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
			_ = z.Close() // the client may be gone
		}, model.Bounds{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			srv := serve(t, c.serve)
			var err error
			used := peak(func(look func()) {
				n := 0
				for _, e := range client(remote.Options{Retries: -1}).Stream(t.Context(), model.Request{Bounds: c.bounds},
					func(scrollback.Learned) (remote.Exchange, error) { return exchange(srv.URL), nil }) {
					if n++; n%200 == 0 {
						look()
					}
					err = e
				}
				look()
			})
			if used > most || errors.Is(err, scrollback.ErrReplyBound) != c.ends {
				t.Errorf("%d MB held, %v", used>>20, err)
			}
			safe(t, err)
		})
	}
}

// An answer that is packed is unpacked, streamed or not.
func TestGzip(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			t.Error("gzip is not asked for")
		}
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "text/event-stream")
		z := gzip.NewWriter(w)
		for _, ev := range []string{": hm\n\n", "data: text it is 42\n\n", "data: finish stop\n\n"} {
			io.WriteString(z, ev)
			_ = z.Flush()
			_ = http.NewResponseController(w).Flush()
		}
		_ = z.Close()
	})
	if a, err := ask(client(remote.Options{}), srv.URL, model.Request{}); err != nil || a.Text != "it is 42" ||
		a.Finish != "stop" {
		t.Errorf("%+v %v", a, err)
	}
}

// Answers that are not streams of events: lines, and whole ones.
func TestLinesAndWhole(t *testing.T) {
	var body string
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, body) })
	run := func(b model.Bounds, read func(a *remote.Answer) error) (modeltest.Answer, error) {
		return modeltest.Read(client(remote.Options{Retries: -1}).Stream(context.Background(), model.Request{Bounds: b},
			func(scrollback.Learned) (remote.Exchange, error) {
				return remote.Exchange{URL: srv.URL, Body: 1, Read: read}, nil
			}))
	}
	lines := func(a *remote.Answer) error {
		for line, err := range a.Lines() {
			if err != nil {
				return err
			}
			if err := a.EmitDelta(model.Delta{Text: string(line)}); err != nil {
				return err
			}
		}
		return nil
	}
	whole := func(a *remote.Answer) error {
		raw, err := a.ReadWhole()
		if err != nil {
			return err
		}
		return a.EmitDelta(model.Delta{Text: string(raw)})
	}
	body = " one \r\n\n\ntwo\nthree"
	if a, err := run(model.Bounds{}, lines); err != nil || a.Text != "onetwothree" {
		t.Errorf("%q %v", a.Text, err)
	}
	if a, err := run(model.Bounds{FrameBytes: len(body)}, whole); err != nil || a.Text != body {
		t.Errorf("%q %v", a.Text, err)
	}
	for _, read := range []func(*remote.Answer) error{whole, lines} {
		body = strings.Repeat("x", 200_000)
		_, err := run(model.Bounds{FrameBytes: 100_000}, read)
		if own(t, err, scrollback.Unavailable, "beyond 100000 bytes"); !errors.Is(err, scrollback.ErrReplyBound) {
			t.Error(err)
		}
	}
}

// Asking for a value is bounded and classified as the rest is.
func TestGet(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		code   scrollback.Code
		words  string
	}{
		"good":      {200, `{"n":7}`, "", ""},
		"html":      {200, `<!doctype html>`, scrollback.Unavailable, "a web page"},
		"gibberish": {200, `{"n":`, scrollback.Unavailable, "cannot be read"},
		"too big": {200, `{"n":"` + string(bytes.Repeat([]byte("x"), 9<<20)) + `"}`, scrollback.Unavailable,
			"cannot be read"},
		"missing": {404, `{}`, scrollback.Invalid, "at another address"},
		"bad key": {401, `{"error":"bad ` + key + `"}`, scrollback.Refused, "refuses the key (ACME_KEY)"},
	} {
		t.Run(name, func(t *testing.T) {
			srv := serve(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(c.status); io.WriteString(w, c.body) })
			var v struct{ N any }
			err := client(remote.Options{}).GetJSON(t.Context(), srv.URL, &v)
			if c.code != "" {
				own(t, err, c.code, c.words)
			} else if err != nil || v.N != 7.0 {
				t.Errorf("%v %v", v, err)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() })
	if err := client(remote.Options{}).GetJSON(ctx, srv.URL, new(any)); scrollback.CodeOf(err) != scrollback.Canceled {
		t.Error(err)
	}
}
