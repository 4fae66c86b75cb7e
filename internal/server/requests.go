package server

import (
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/redact"
	"github.com/scrollback-ai/scrollback/internal/server/status"
)

// wrapRequests gives each request an id, bounds its body, and leaves a line in the log when
// it fails through no fault of its client.
func wrapRequests(o Options, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(status.RequestID)
		if !isSafeID(id) {
			id = rand.Text()
		}
		x := &loggedResponse{ResponseWriter: w}
		x.Header().Set(status.RequestID, id)
		if !isPageFile(r.URL.Path) {
			setPlainHeaders(x.Header())
		}
		b := o.Patience.paceBody(w, r)
		defer func() {
			if !o.crowd.isSpared(r, b) {
				b.setDeadline() // the rest of a body that nobody has read is read by the server, within its bounds
			}
		}()
		r = b.withBody(r)
		recoverPanics(o.Log, next).ServeHTTP(x, r)
		// asked several times a second
		if x.status >= http.StatusInternalServerError &&
			!(errors.Is(x.cause, scrollback.ErrClosing) && r.URL.Path == "/readyz") {
			x.logFailure(o.Log, r)
		}
	})
}

// setPlainHeaders are the headers of everything but the page: it is not to be kept, and it is what
// its type says.
func setPlainHeaders(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
}

// isPageFile reports whether a path is one of the page's own files, which say themselves how long
// they may be kept.
func isPageFile(path string) bool {
	return path == "/" || path == "/favicon.ico" || strings.HasPrefix(path, "/assets/")
}

// isSafeID reports whether a client's id for its request can stand in a header and in a log.
func isSafeID(id string) bool {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	return len(id) > 0 && len(id) <= 64 && strings.Trim(id, plain) == "" && redact.RedactLine(id) == id
}

// retryAfter is how many seconds clients are to wait while the store or the server is away.
// Both may be back at any moment.
const retryAfter = "1"

// loggedResponse is a response that knows how it went.
type loggedResponse struct {
	http.ResponseWriter
	status int
	cause  error
}

// Write notes the status of a response that sets none.
func (x *loggedResponse) Write(b []byte) (int, error) {
	if x.status == 0 {
		x.status = http.StatusOK
	}
	return x.ResponseWriter.Write(b)
}

// WriteHeader notes the status.
func (x *loggedResponse) WriteHeader(status int) {
	if status >= http.StatusOK && x.status == 0 {
		x.status = status
	}
	if h := x.Header(); status == http.StatusServiceUnavailable && h.Get("Retry-After") == "" {
		h.Set("Retry-After", retryAfter)
	}
	x.ResponseWriter.WriteHeader(status)
}

// NoteFailure implements [status.Noter].
func (x *loggedResponse) NoteFailure(err error) { x.cause = err }

// SetReadDeadline leaves the deadline alone: a body has its bounds already, and one that
// is left behind would end a request whose body has long been read.
func (*loggedResponse) SetReadDeadline(time.Time) error { return nil }

// Unwrap serves http.ResponseController.
func (x *loggedResponse) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// logFailure leaves a line in the log about a request that failed.
func (x *loggedResponse) logFailure(log *slog.Logger, r *http.Request) {
	code := scrollback.Internal
	cause := "unknown"
	if x.cause != nil {
		code = scrollback.CodeOf(x.cause)
		cause = redact.RedactLine(x.cause.Error())
	}
	log.Error("a request failed", "request", x.Header().Get(status.RequestID), "status", x.status, "code", string(code),
		"method", r.Method, "path", redactPath(r.URL.Path), "cause", cause)
}

// redactPath returns a path without anything that looks like a key. Ids stay.
func redactPath(path string) string {
	segments := strings.Split(path, "/")
	for i, s := range segments {
		if strings.Trim(s, "0123456789abcdef-") != "" {
			segments[i] = redact.RedactLine(s)
		}
	}
	path = strings.Join(segments, "/")
	return path[:min(len(path), 300)]
}

// recoverPanics turns a panic into an error and a line in the log.
func recoverPanics(log *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch p := recover(); p {
			case nil:
			case http.ErrAbortHandler:
				panic(p)
			default:
				log.Error("a handler panicked", "request", w.Header().Get(status.RequestID), "path", redactPath(r.URL.Path),
					"panic",
					p, "stack", string(debug.Stack()))
				if x, ok := w.(*loggedResponse); ok && x.status != 0 {
					panic(http.ErrAbortHandler) // half a response must not look whole
				}
				refuseRequest(w, r, scrollback.Wrap(scrollback.Internal, "server", errors.New("a handler panicked")))
			}
		}()
		next.ServeHTTP(w, r)
	})
}
