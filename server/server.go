// Package server is one HTTP listener: who may speak to it, whether it is healthy, how it
// shuts down. It mounts its faces and knows nothing else about them.
//
// Invariants: an address that other machines reach is refused unless asked for in
// so many words; a request whose Host or Origin is not ours is refused, so that no web
// page reaches a server on this machine by a trick of names; on shutdown running turns
// are saved before the process ends.
//
// It knows the engine, the root's words and the faces.
package server

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/server/access"
	"github.com/scrollback-ai/scrollback/server/language"
	"github.com/scrollback-ai/scrollback/server/mcpapi"
	"github.com/scrollback-ai/scrollback/server/restapi"
	"github.com/scrollback-ai/scrollback/server/status"
	"github.com/scrollback-ai/scrollback/server/webui"
	"github.com/scrollback-ai/scrollback/transfer"
)

// Options configure a server.
type Options struct {
	Addr     string // host:port; port 0 takes a free one
	Insecure bool   // serve other machines without keys
	Version  string
	Limits   restapi.Limits
	Rate     scrollback.Rate // of each actor's chats; zero for the default of the address
	Log      *slog.Logger
	Started  func(url string) // called once it listens; may be nil
}

// publicRate is how much each actor may begin where other machines can reach the server.
var publicRate = scrollback.Rate{Chats: 20, PerMS: time.Hour.Milliseconds()}

// rate is that of each actor's chats.
func (o Options) rate(local bool) scrollback.Rate {
	if o.Rate == (scrollback.Rate{}) && !local {
		return publicRate
	}
	return o.Rate
}

// shutdownTime is how long a server waits for requests when it shuts down.
const shutdownTime = 10 * time.Second

// lastWords is how long clients have to read their streams to the end.
const lastWords = time.Second

// Serve listens until ctx ends, then lets requests finish.
func Serve(ctx context.Context, e *engine.Engine, t *transfer.Transfer, o Options) error {
	const op = "server.Serve"
	host, _, err := net.SplitHostPort(o.Addr)
	if err != nil {
		return scrollback.ParamErrorf(op, "addr", "%q is not HOST:PORT", o.Addr)
	}
	local := isLoopback(host)
	if !local && !o.Insecure {
		return scrollback.Errorf(scrollback.Refused, op, "%s can be reached from other machines and there are no keys; use 127.0.0.1, or --insecure if you mean it", o.Addr)
	}
	l, err := net.Listen("tcp", o.Addr)
	var no *net.AddrError
	switch {
	case errors.As(err, &no):
		return scrollback.ParamErrorf(op, "addr", "%q: %s", o.Addr, no.Err)
	case err != nil:
		return &scrollback.Error{Code: scrollback.Refused, Op: op, Err: err}
	}
	base, abandon := context.WithCancel(context.WithoutCancel(ctx))
	defer abandon()
	srv := &http.Server{
		BaseContext:       func(net.Listener) context.Context { return base },
		Handler:           Handler(e, t, o, local),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		ErrorLog:          slog.NewLogLogger(o.Log.Handler(), slog.LevelWarn),
	}
	if o.Started != nil {
		o.Started("http://" + l.Addr().String())
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }()
	select {
	case err := <-failed:
		return scrollback.Wrap(scrollback.Unavailable, op, err)
	case <-ctx.Done():
	}
	// First nobody new is let in; then turns are stopped and saved, and their streams end
	// by themselves.
	stop, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	shut := make(chan error, 1)
	go func() { shut <- srv.Shutdown(stop) }()
	err = e.Close(stop)
	// Streams end now that their turns have; what else still runs is cut short.
	time.AfterFunc(lastWords, abandon)
	if shutErr := <-shut; shutErr != nil {
		err = errors.Join(err, srv.Close())
	}
	return err
}

// Handler returns everything that is served. local says that only this machine can reach
// it, under a name of this machine.
func Handler(e *engine.Engine, t *transfer.Transfer, o Options, local bool) http.Handler {
	mux := http.NewServeMux()
	restapi.Mount(mux, restapi.Options{Engine: e, Transfer: t, Version: o.Version, Limits: o.Limits})
	mux.Handle("/mcp", mcpapi.Handler(func(ctx context.Context) *engine.View { return e.As(access.Caller(ctx)) }, mcpapi.Options{Version: o.Version, Log: o.Log}))
	mux.Handle("/", webui.Handler())
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]any{"ok": true, "version": o.Version})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if err := e.Ready(r.Context()); err != nil {
			refuse(w, r, err)
			return
		}
		writeJSON(w, http.StatusOK, map[string]any{"ok": true})
	})
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, r, scrollback.Errorf(scrollback.NotFound, "server", "there is no %s %s", r.Method, r.URL.Path))
	})
	return recovered(o.Log, ours(local, operated(access.Limit(o.rate(local), restapi.Wrap(mux)))))
}

// ours lets through only requests that name this server and, when a page sent
// them, a page of this server.
func ours(local bool, next http.Handler) http.Handler {
	pages := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		if local && !isLoopback(host) {
			refuse(w, r, scrollback.Errorf(scrollback.Refused, "server", "this server answers only to a name of this machine"))
			return
		}
		if pages.Check(asWrite(r)) != nil {
			refuse(w, r, scrollback.Errorf(scrollback.Refused, "server", "a page of another site may not use this server"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// operated lets everybody in as the operator.
func operated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(access.With(r.Context(), scrollback.Operator())))
	})
}

// asWrite is r as the standard check judges it: that check lets every site read, but what
// is kept here is private, so only the front page may be linked to from elsewhere.
func asWrite(r *http.Request) *http.Request {
	if r.URL.Path == "/" {
		return r
	}
	judged := r.WithContext(r.Context())
	judged.Method = http.MethodPost
	return judged
}

// recovered turns a panic into an error and a line in the log.
func recovered(log *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch p := recover(); p {
			case nil:
			case http.ErrAbortHandler:
				panic(p)
			default:
				log.Error("a handler panicked", "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
				refuse(w, r, scrollback.Errorf(scrollback.Internal, "server", "a handler panicked"))
			}
		}()
		next.ServeHTTP(w, r)
	})
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	if len(host) > 2 && host[0] == '[' {
		host = host[1 : len(host)-1]
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func refuse(w http.ResponseWriter, r *http.Request, err error) {
	l := language.Of(r.Header.Get("Accept-Language"))
	w.Header().Set("Content-Language", l.Tag)
	writeJSON(w, status.Of(err),
		map[string]any{"error": map[string]any{"code": scrollback.CodeOf(err), "message": l.Shown(err)}})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}
