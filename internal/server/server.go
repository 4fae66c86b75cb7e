// Package server is one HTTP listener: who may speak to it, whether it is healthy, how it
// shuts down. It mounts its faces and knows nothing else about them.
//
// Invariants: an address that other machines reach is refused while there are no keys,
// unless asked for explicitly; every request passes the gate of access before a face
// sees it; on shutdown running turns are saved before the process ends.
//
// It knows the engine, the root's words and the faces.
package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/door"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/meet"
	"github.com/scrollback-ai/scrollback/internal/merge"
	"github.com/scrollback-ai/scrollback/internal/server/access"
	"github.com/scrollback-ai/scrollback/internal/server/faces"
	"github.com/scrollback-ai/scrollback/internal/server/language"
	"github.com/scrollback-ai/scrollback/internal/server/mcpapi"
	"github.com/scrollback-ai/scrollback/internal/server/metrics"
	"github.com/scrollback-ai/scrollback/internal/server/restapi"
	"github.com/scrollback-ai/scrollback/internal/server/status"
	"github.com/scrollback-ai/scrollback/internal/server/webui"
	"github.com/scrollback-ai/scrollback/internal/store/keyring"
	"github.com/scrollback-ai/scrollback/internal/transfer"
)

// Options configure a server.
type Options struct {
	Addr     string // host:port; port 0 takes a free one
	Insecure bool   // serve other machines while there are no keys
	ReadOnly bool   // nobody may change anything
	Version  string
	Limits   restapi.BodyLimits
	Metrics  *metrics.Metrics // nil counts nothing
	Patience Patience         // with clients that send slowly
	Rate     scrollback.Rate  // of each actor's chats; zero for the default of the address
	Log      *slog.Logger

	Keys *keyring.Ring // who else has access besides the operator; nil: nobody
	// whose forwarded headers count; with one, the server counts as reached by other machines
	TrustedProxies access.Proxies
	Hosts          []string // names of this server besides those of this machine

	// Door answers clients of other APIs; nil serves none. DoorBytes bounds the body of their requests.
	Door      *door.Door
	DoorBytes int64

	// Budgets says for the log what may be used in a day; nil for nothing.
	Budgets func(context.Context) string

	// Agents are the coding agents of the machine that serves; nil where it is not a person's.
	Agents restapi.MachineAgents

	// Meet returns the store as another one meets it, which may what the key allows; nil where none does.
	Meet func(merge.Access) meet.Peer
	// Remotes says how the store stands with its remotes; nil where there are none.
	Remotes restapi.Remotes
	// Backups are those of the whole store; nil where there are none.
	Backups restapi.Backups

	Images string // where images of conversations are fetched from besides here, as https://host; may be empty

	Started func(url string) // called once it listens; may be nil

	// Place returns a folder with what is the same place of work, for MCP. May be nil.
	Place func(folder string) []string

	// Data says which data is served, and nothing else about it: /healthz tells it to this machine. May be empty.
	Data string

	// Grace is how long the server goes on once it is told to end, before it closes its
	// address: meanwhile /readyz reports it, so that load balancers stop sending requests.
	Grace time.Duration

	ending <-chan struct{}  // closed when it is told to end
	crowd  *connectionCrowd // the connections of the server; nil where nobody counts them
}

// publicRate is how much each actor may begin where other machines can reach the server.
var publicRate = scrollback.Rate{Chats: 20, PerMS: time.Hour.Milliseconds()}

// chatRate returns that of each actor's chats.
func (o Options) chatRate(local bool) scrollback.Rate {
	if o.Rate == (scrollback.Rate{}) && !local {
		return publicRate
	}
	return o.Rate
}

// logLimits says in the log what the server takes.
func (o Options) logLimits(ctx context.Context, local bool) {
	if o.Log == nil || !o.Log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	line := []any{"chats", o.chatRate(local).String()}
	if o.Budgets != nil {
		line = append(line, "budgets", o.Budgets(ctx))
	}
	line = append(line, "body_bytes", cmp.Or(o.Limits.Body, restapi.DefaultBody))
	if o.Door != nil {
		line = append(line, "door", o.Door.Mode(), "door_recall", o.Door.Recall(), "door_chats", o.Rate.String(),
			"door_body_bytes", o.DoorBytes)
	}
	o.Log.Info("limits", line...)
}

// shutdownTime is how long a server waits for requests when it shuts down.
const shutdownTime = 10 * time.Second

// lastWordsTime is how long clients have to read their streams to the end.
const lastWordsTime = time.Second

// Serve listens until ctx ends, then lets requests finish.
func Serve(ctx context.Context, e *engine.Engine, t *transfer.Transfer, o Options) error {
	const op = "server.Serve"
	host, _, err := net.SplitHostPort(o.Addr)
	if err != nil {
		return scrollback.ParamErrorf(op, "addr", i18n.NotHostAndPort, o.Addr)
	}
	local := access.IsLoopback(host)
	if o.Insecure, err = checkMayServe(ctx, o, local); err != nil {
		return err
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
	o.ending = ctx.Done()
	o.crowd = newCrowd(maxConnections, connectionsShare, connectionsSpare, o.TrustedProxies.Contains)
	srv := newHTTPServer(base, Handler(e, t, o, local), o)
	o.logLimits(ctx, local)
	if o.Started != nil {
		o.Started("http://" + l.Addr().String())
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(crowdListener{l, o.crowd}) }()
	select {
	case err := <-failed:
		return scrollback.Wrap(scrollback.Unavailable, op, err)
	case <-ctx.Done():
	}
	select {
	case err := <-failed:
		return scrollback.Wrap(scrollback.Unavailable, op, err)
	case <-time.After(o.Grace):
	}
	return endServer(srv, e, o.Grace, abandon)
}

// newHTTPServer returns the server of a handler, whose connections are members of the crowd.
func newHTTPServer(base context.Context, h http.Handler, o Options) *http.Server {
	return &http.Server{
		ConnContext: o.crowd.connectionContext, ConnState: o.crowd.trackState,
		BaseContext:       func(net.Listener) context.Context { return base },
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		ErrorLog:          slog.NewLogLogger(o.Log.Handler(), slog.LevelWarn),
	}
}

// endServer ends a server: first nobody new is let in; then turns are stopped and saved, and their
// streams end by themselves. With a grace, turns that run may end as they would before that.
func endServer(srv *http.Server, e *engine.Engine, grace time.Duration, abandon func()) error {
	finish, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	stop, cancel := context.WithTimeout(context.Background(), grace+shutdownTime)
	defer cancel()
	shut := make(chan error, 1)
	go func() { shut <- srv.Shutdown(stop) }()
	if grace > 0 {
		_ = e.Settle(finish) // what runs on after that is stopped
	}
	err := e.Close(stop)
	// Streams end now that their turns have; what else still runs is cut short.
	time.AfterFunc(lastWordsTime, abandon)
	if shutErr := <-shut; shutErr != nil {
		err = errors.Join(err, srv.Close())
	}
	return err
}

// closeWhenEnding has each connection closed behind its response once the server was told to end: what
// is asked next is asked elsewhere, and no request meets a connection that closes.
func closeWhenEnding(ending <-chan struct{}, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-ending:
			w.Header().Set("Connection", "close")
		default:
		}
		next.ServeHTTP(w, r)
	})
}

// checkMayServe reports whether requests without a key are let in on an address that other
// machines reach: only if that was asked for, and there are no keys.
func checkMayServe(ctx context.Context, o Options, local bool) (insecure bool, err error) {
	if local && len(o.TrustedProxies) == 0 {
		return false, nil
	}
	n := 0
	if o.Keys != nil {
		if n, err = o.Keys.CountUsable(ctx); err != nil {
			return false, err
		}
	}
	switch {
	case n > 0 && o.Insecure:
		o.Log.Warn("there are keys: --insecure changes nothing, and every request needs one")
	case n == 0 && !o.Insecure:
		return false, scrollback.Errorf(scrollback.Refused, "server.Serve",
			i18n.ReachableWithoutKeys, o.Addr)
	}
	return n == 0, nil
}

// Handler returns everything that is served. local says that only this machine can reach
// it, under a name of this machine, unless through a proxy.
func Handler(e *engine.Engine, t *transfer.Transfer, o Options, local bool) http.Handler {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	mux := http.NewServeMux()
	local = local && len(o.TrustedProxies) == 0
	counted := countRequests(o, refuseUnknown(restapi.Wrap(mux)))
	keys := o.Keys
	if o.ReadOnly && keys != nil {
		keys = keys.WithMemorySignIns()
	}
	gate := access.New(access.Options{Keys: keys, ReadOnly: o.ReadOnly, Open: local || o.Insecure, Local: local,
		Trusted: o.TrustedProxies, Hosts: o.Hosts,
		Log: o.Log, Refuse: func(w http.ResponseWriter, r *http.Request, err error) {
			counted.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), refusedKey{}, err)))
		}})
	restapi.Mount(mux, restapi.Options{Engine: e, Transfer: t, Gate: gate, Version: o.Version, Limits: o.Limits,
		Agents: o.Agents, Backups: o.Backups, Remotes: o.Remotes})
	if o.Door != nil {
		mountFaces(mux, faces.Options{Engine: e, Door: o.Door, BodyBytes: o.DoorBytes,
			Counted: o.Rate != (scrollback.Rate{})})
	}
	mux.Handle("/mcp", mcpapi.Handler(func(ctx context.Context) *engine.View { return e.As(access.CallerOf(ctx)) },
		mcpapi.Options{Version: o.Version, Log: o.Log, Place: o.Place}))
	if o.Meet != nil {
		mux.Handle("POST "+meet.Prefix, newMeetings(o.Meet))
	}
	mux.Handle("/", webui.Handler(o.Images))
	(&health{probe: e.Ready, version: o.Version, data: o.Data, ending: o.ending}).mountHealth(mux)
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		refuseRequest(w, r, scrollback.Errorf(scrollback.NotFound, "server", i18n.NoSuchThingNamed, r.Method, r.URL.Path))
	})
	if o.Metrics != nil {
		mux.Handle("GET /metrics", requireAllProjects(o.Metrics.Handler()))
	}
	inside := access.LimitRate(o.chatRate(local), counted)
	if o.ReadOnly {
		inside = limitToRead(inside)
	}
	if o.crowd == nil {
		o.crowd = newCrowd(maxConnections, connectionsShare, connectionsSpare, o.TrustedProxies.Contains)
	}
	return closeWhenEnding(o.ending, wrapRequests(o, markBusy(gate.Wrap(o.crowd.limitRequests(inside)))))
}

// requireAllProjects serves only callers who see all projects: what next tells is about the whole server.
func requireAllProjects(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !access.CallerOf(r.Context()).AllProjects {
			refuseRequest(w, r, scrollback.Errorf(scrollback.Refused, "server", i18n.NeedsAccessToAllProjects))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// countRequests logs and counts the requests of next.
func countRequests(o Options, next http.Handler) http.Handler {
	next = metrics.LogRequests(o.Log, next)
	if o.Metrics == nil {
		return next
	}
	return o.Metrics.CountRequests(next)
}

type refusedKey struct{}

// refuseUnknown refuses the requests that the gate did not let in, where they are counted like
// all others.
func refuseUnknown(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err, ok := r.Context().Value(refusedKey{}).(error); ok {
			refuseRequest(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func refuseRequest(w http.ResponseWriter, r *http.Request, err error) {
	if access.IsFace(r.URL.Path) {
		faces.RefuseRequest(w, r, err)
		return
	}
	l := language.Of(r.Header.Get("Accept-Language"))
	w.Header().Set("Content-Language", string(l))
	fault := map[string]any{"code": scrollback.CodeOf(err), "message": l.Shown(err)}
	if id := status.NoteError(w, err); id != "" {
		fault["request_id"] = id
	}
	writeJSON(w, status.FromError(err), map[string]any{"error": fault})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	setPlainHeaders(w.Header())
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}
