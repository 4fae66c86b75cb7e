// Package status is the one table from errors to HTTP statuses, for every face.
//
// It knows the root's words and nothing else.
package status

import (
	"errors"
	"net/http"

	"github.com/scrollback-ai/scrollback"
)

// ClientClosedRequest is the status of a request that its client closed.
const ClientClosedRequest = 499

var statuses = map[scrollback.Code]int{
	scrollback.Invalid:     http.StatusBadRequest,
	scrollback.Refused:     http.StatusForbidden,
	scrollback.NotFound:    http.StatusNotFound,
	scrollback.Conflict:    http.StatusConflict,
	scrollback.OverBudget:  http.StatusUnprocessableEntity,
	scrollback.RateLimited: http.StatusTooManyRequests,
	scrollback.Canceled:    ClientClosedRequest,
	scrollback.Internal:    http.StatusInternalServerError,
	scrollback.Unavailable: http.StatusServiceUnavailable,
}

// FromError returns the HTTP status for err, which must not be nil: that of its reason if the
// reason has one, else that of its code.
func FromError(err error) int {
	switch {
	case errors.Is(err, scrollback.ErrTooLarge):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, scrollback.ErrPrecondition):
		return http.StatusPreconditionFailed
	case errors.Is(err, scrollback.ErrNoKey):
		return http.StatusUnauthorized
	case errors.Is(err, scrollback.ErrUpstream), errors.Is(err, scrollback.ErrReplyBound):
		return http.StatusBadGateway
	}
	return statuses[scrollback.CodeOf(err)]
}

// RequestID is the header that names a request, and the line about it in the log.
const RequestID = "X-Request-Id"

// Noter is a response that wants to know why it failed.
type Noter interface{ NoteFailure(err error) }

// NoteError passes on to the logger of a response why it fails. If it is no fault of the client's, NoteError
// returns the id under which it is logged, which belongs in the response; else nothing.
func NoteError(w http.ResponseWriter, err error) (id string) {
	if FromError(err) < http.StatusInternalServerError {
		return ""
	}
	for at := w; at != nil; {
		if n, ok := at.(Noter); ok {
			n.NoteFailure(err)
			break
		}
		inner, ok := at.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			break
		}
		at = inner.Unwrap()
	}
	return w.Header().Get(RequestID)
}
