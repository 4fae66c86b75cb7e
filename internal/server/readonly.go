package server

import (
	"net/http"

	"github.com/scrollback-ai/scrollback/internal/server/access"
)

// limitToRead lets everybody in as somebody who reads, at most.
func limitToRead(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := access.CallerOf(r.Context())
		next.ServeHTTP(w, r.WithContext(access.WithCaller(r.Context(), c.RestrictToRead(access.OnlyReads))))
	})
}
