package server

import (
	"net/http"

	"github.com/scrollback-ai/scrollback/server/access"
)

// reading lets everybody in as somebody who reads, at most.
func reading(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := access.Caller(r.Context())
		next.ServeHTTP(w, r.WithContext(access.With(r.Context(), c.Reading(access.OnlyReads))))
	})
}
