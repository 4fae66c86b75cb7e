// Package access turns a request into a caller.
//
// It knows the root's types. Faces read the caller of a request's context and decide
// nothing themselves.
package access

import (
	"context"

	"github.com/scrollback-ai/scrollback"
)

type callerKey struct{}

// With returns a context of a request by c.
func With(ctx context.Context, c scrollback.Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// Caller is who sent the request of a context. Without one it is the zero caller, who sees
// nothing: a request that nobody vouched for reaches nothing.
func Caller(ctx context.Context) scrollback.Caller {
	c, _ := ctx.Value(callerKey{}).(scrollback.Caller)
	return c
}
