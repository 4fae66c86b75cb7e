package restapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/scrollback-ai/scrollback/server/access"
)

// signedIn is who a caller is, and the cookie that says so from now on.
type signedIn struct {
	SetCookie string `header:"Set-Cookie"`
	Cache     string `header:"Cache-Control"`
	Body      access.Who
}

// signedOut removes the cookie.
type signedOut struct {
	SetCookie string `header:"Set-Cookie"`
}

// signInBody is a key that a browser exchanges for a cookie.
type signInBody struct {
	Key string `json:"key" doc:"A key, as scrollback keys add printed it."`
}

// session adds sign-in and sign-out, for the page: programs send their key with each
// request.
func (a *api) session() {
	free := []map[string][]string{{}} // they need no key
	huma.Register(a.huma, huma.Operation{OperationID: "sign-in", Method: http.MethodPost, Path: "/api/session",
		Summary: "Exchange a key for a cookie, for browsers", MaxBodyBytes: a.limits.Body, Security: free},
		func(ctx context.Context, in *struct{ Body signInBody }) (*signedIn, error) {
			cookie, who, err := a.gate.SignIn(ctx, in.Body.Key)
			if err != nil {
				return answer[signedIn](nil, err)
			}
			return &signedIn{cookie.String(), "no-store", who}, nil
		})
	huma.Register(a.huma, huma.Operation{OperationID: "whoami", Method: http.MethodGet, Path: "/api/session",
		Summary: "Who the caller is, and whether requests need a key here"},
		func(ctx context.Context, _ *struct{}) (*signedIn, error) {
			return &signedIn{Cache: "no-store", Body: access.WhoIs(ctx)}, nil
		})
	huma.Register(a.huma, huma.Operation{OperationID: "sign-out", Method: http.MethodDelete, Path: "/api/session",
		Summary: "End the sign-in of this browser", DefaultStatus: http.StatusNoContent, Security: free},
		func(ctx context.Context, _ *struct{}) (*signedOut, error) {
			cookie, err := a.gate.SignOut(ctx)
			if err != nil {
				return answer[signedOut](nil, err)
			}
			return &signedOut{cookie.String()}, nil
		})
}
