package restapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/server/access"
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

// addSession adds sign-in and sign-out, for the page: programs send their key with each
// request.
func (a *api) addSession() {
	free := []map[string][]string{{}} // they need no key
	huma.Register(a.huma, huma.Operation{OperationID: "sign-in", Method: http.MethodPost, Path: "/api/session",
		Summary: "Exchange a key for a cookie, for browsers", MaxBodyBytes: a.limits.Body, Security: free},
		func(ctx context.Context, in *struct{ Body signInBody }) (*signedIn, error) {
			cookie, who, err := a.gate.SignIn(ctx, in.Body.Key)
			if err != nil {
				return wrapAnswer[signedIn](nil, err)
			}
			return &signedIn{cookie.String(), "no-store", a.offer(ctx, who)}, nil
		})
	huma.Register(a.huma, huma.Operation{OperationID: "whoami", Method: http.MethodGet, Path: "/api/session",
		Summary: "Who the caller is, and whether requests need a key here"},
		func(ctx context.Context, _ *struct{}) (*signedIn, error) {
			return &signedIn{Cache: "no-store", Body: a.offer(ctx, access.DescribeSender(ctx))}, nil
		})
	huma.Register(a.huma, huma.Operation{OperationID: "sign-out", Method: http.MethodDelete, Path: "/api/session",
		Summary: "End the sign-in of this browser", DefaultStatus: http.StatusNoContent, Security: free},
		func(ctx context.Context, _ *struct{}) (*signedOut, error) {
			cookie, err := a.gate.SignOut(ctx)
			if err != nil {
				return wrapAnswer[signedOut](nil, err)
			}
			return &signedOut{cookie.String()}, nil
		})
}

// KeyEntry is a key as it is listed. Rate and Budget are what was set for it, which only an
// admin of all projects is shown. It is exported because /openapi.json leaves out the fields of
// an embedded type that is not.
type KeyEntry struct {
	scrollback.Key
	Rate   *scrollback.Rate        `json:"rate,omitempty"`
	Budget *scrollback.DailyBudget `json:"budget,omitempty"`
}

type keyList struct {
	Keys []KeyEntry `json:"keys"`
}

// madeKey is a new key with its secret.
type madeKey struct {
	Secret string `json:"secret" doc:"What its user sends or signs in with. It is shown only now."`
	KeyEntry
}

// keyBody says what a new key is for.
type keyBody struct {
	Name      string      `json:"name" doc:"Whose it is: the person or program that uses it."`
	Role      string      `json:"role" enum:"read,write,admin"`
	Projects  []string    `json:"projects,omitempty" doc:"What it may see; none for all projects."`
	ExpiresAt int64       `json:"expires_at,omitempty" doc:"Unix ms; 0 for when it is revoked."`
	Door      string      `json:"door,omitempty" doc:"How its clients of other APIs are answered: faithful, window or record; empty leaves it to the project."`
	Budget    *budgetBody `json:"budget,omitempty" doc:"What it may use in a day; needs access to all projects."`
}

// KeyPath is the key in a path.
type KeyPath struct {
	ID string `path:"key_id" doc:"Id of the key."`
}

// keyHandlers serves admins, and callers that ask what is allowed here.
type keyHandlers struct{ api *api }

// addKeys adds what an admin does with the keys that reach no further than its own.
func (d keyHandlers) addKeys() {
	huma.Register(d.api.huma, huma.Operation{OperationID: "list-keys", Method: http.MethodGet, Path: "/api/keys",
		Summary: "List keys"},
		func(ctx context.Context, _ *struct{}) (*body[keyList], error) {
			all, err := d.api.gate.ListKeys(ctx)
			out := keyList{Keys: []KeyEntry{}}
			for _, k := range all {
				e := KeyEntry{Key: k}
				if admin, no := d.api.viewFor(ctx).Admin(); no == nil && err == nil {
					var l scrollback.KeyLimits
					if l, err = admin.KeyLimits(ctx, k.ID); l.Rate.Chats != 0 {
						e.Rate = &l.Rate
					}
					if l.SpendLimit != (scrollback.SpendLimit{}) {
						e.Budget = &scrollback.DailyBudget{TokensPerDay: l.Tokens, MoneyPerDay: l.Money, Currency: l.Currency}
					}
				}
				out.Keys = append(out.Keys, e)
			}
			return wrapBody(out, err)
		})
	huma.Register(d.api.huma, huma.Operation{OperationID: "add-key", Method: http.MethodPost, Path: "/api/keys",
		DefaultStatus: http.StatusCreated,
		Summary:       "Make a key", MaxBodyBytes: d.api.limits.Body}, d.addKey)
	huma.Register(d.api.huma, huma.Operation{OperationID: "revoke-key", Method: http.MethodDelete,
		Path: "/api/keys/{key_id}", Summary: "End a key"},
		func(ctx context.Context, in *KeyPath) (*body[scrollback.Key], error) {
			return wrapBody(d.api.gate.RevokeKey(ctx, scrollback.KeyID(in.ID)))
		})
}

// secretOnce is a response that nobody may keep.
type secretOnce struct {
	Cache string `header:"Cache-Control"`
	Body  madeKey
}

func (d keyHandlers) addKey(ctx context.Context, in *struct{ Body keyBody }) (*secretOnce, error) {
	k := scrollback.Key{Name: in.Body.Name, Projects: in.Body.Projects, ExpiresAt: in.Body.ExpiresAt,
		Door: in.Body.Door}
	if err := k.Role.UnmarshalText([]byte(in.Body.Role)); err != nil {
		return wrapAnswer[secretOnce](nil, scrollback.ParamErrorf("restapi", "role", i18n.RoleIsOneOf))
	}
	var limits scrollback.KeyLimits
	var admin *engine.Admin
	if b := in.Body.Budget; b != nil { // everything that can be wrong with it is known before there is a key
		limits.SpendLimit = scrollback.SpendLimit{Tokens: b.TokensPerDay, Money: b.MoneyPerDay, Currency: b.Currency}
		err := limits.Check()
		if err == nil {
			admin, err = d.api.viewFor(ctx).Admin()
		}
		if err != nil {
			return wrapAnswer[secretOnce](nil, err)
		}
	}
	made, secret, err := d.api.gate.AddKey(ctx, k)
	out := madeKey{secret, KeyEntry{Key: made}}
	if err == nil && admin == nil {
		_, err = d.api.viewFor(ctx).PassLimits(ctx, made.ID)
	}
	if err == nil && admin != nil {
		err = admin.SetKeyLimits(ctx, made.ID, limits)
		out.Budget = &scrollback.DailyBudget{TokensPerDay: limits.Tokens, MoneyPerDay: limits.Money,
			Currency: limits.Currency}
	}
	return wrapAnswer(&secretOnce{"no-store", out}, err)
}

// limitsBody are the bounds of this server. A rate of 0 chats is none.
type limitsBody struct {
	BodyBytes       int64           `json:"body_bytes" doc:"Of a request."`
	MessageChars    int             `json:"message_chars"`
	MessageParts    int             `json:"message_parts"`
	MessageImages   int             `json:"message_images" doc:"That one request shows a model."`
	AttachmentBytes int64           `json:"attachment_bytes"`
	ImportBytes     int64           `json:"import_bytes"`
	Chats           scrollback.Rate `json:"chats" doc:"How many chats may begin in a time, counted for each key or address."`

	Policies      []policyEntry `json:"policies" doc:"How conversations are compacted; the first is what is used where none is named."`
	PolicyNumbers []numberEntry `json:"policy_numbers" doc:"What may be set of a policy."`
	Imports       []string      `json:"imports" doc:"The formats of files that can be imported."`
	Exports       []string      `json:"exports" doc:"The formats in which a conversation can be exported, the default first."`
	Tools         []string      `json:"tools" doc:"The tools whose conversations can be imported."`
}

// policyEntry is a policy with its own numbers. Those of auto are what it comes to with a model that writes
// summaries.
type policyEntry struct {
	Name    string             `json:"name"`
	Numbers map[string]float64 `json:"numbers"`
}

// numberEntry is a number that a policy has.
type numberEntry struct {
	Name  string  `json:"name"`
	Least float64 `json:"least"`
	Most  float64 `json:"most"`
	Whole bool    `json:"whole" doc:"Whether it counts something; else it is a share, or a factor."`
}

// listPolicies returns the policies and the numbers that they have.
func listPolicies() (policies []policyEntry, numbers []numberEntry, err error) {
	for _, name := range compact.Names() {
		p, err := compact.FindPolicy(name, true)
		if err != nil {
			return nil, nil, err
		}
		policies = append(policies, policyEntry{name, p.Numbers()})
	}
	for _, n := range compact.Numbers() {
		numbers = append(numbers, numberEntry(n))
	}
	return policies, numbers, nil
}

// addBounds adds what this server takes.
func (d keyHandlers) addBounds() {
	huma.Register(d.api.huma, huma.Operation{OperationID: "limits", Method: http.MethodGet, Path: "/api/limits",
		Summary: "What this server takes"},
		func(ctx context.Context, _ *struct{}) (*body[limitsBody], error) {
			l := d.api.viewFor(ctx).Limits()
			out := limitsBody{BodyBytes: d.api.limits.Body, MessageChars: l.MessageChars, MessageParts: l.Parts,
				MessageImages:   l.Images,
				AttachmentBytes: min(d.api.limits.Upload, l.ArtifactBytes), ImportBytes: d.api.limits.Import}
			if q := access.QuotaOf(ctx); q != nil && q.Chats > 0 {
				out.Chats = q.Rate
			}
			formats := d.api.moves.Formats()
			out.Imports = formats.Imports
			out.Exports = formats.Exports
			out.Tools = formats.Tools
			var err error
			out.Policies, out.PolicyNumbers, err = listPolicies()
			return wrapBody(out, err)
		})
}
