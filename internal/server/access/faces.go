package access

import (
	"net/http"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/keyring"
)

// KeyHeader is where the clients of other APIs bring a key of this server, where another header brings what lets them
// in at their provider.
const KeyHeader = "X-Scrollback-Key"

// IsFace reports whether a path is one of other APIs.
func IsFace(path string) bool {
	switch path {
	case "/api/chat", "/api/tags", "/api/show", "/api/version", "/api/hello":
		return true
	}
	return strings.HasPrefix(path, "/v1/") || strings.HasPrefix(path, "/v1beta/")
}

// readFaceCredential returns what lets a client of another API in; nil if nothing does. What it brings for its provider
// counts if it is a key of this server, or if a key is needed: where none is, a client may send whatever it has. own
// says that it counted.
func (g *Gate) readFaceCredential(r *http.Request, queryKey string) (ticket *credential, own bool, err error) {
	if key := strings.TrimSpace(r.Header.Get(KeyHeader)); key != "" {
		return &credential{secret: key}, false, nil
	}
	sent := listCredentials(r, queryKey)
	for _, secret := range sent {
		if strings.HasPrefix(secret, keyring.SecretPrefix) {
			return &credential{secret: secret}, true, nil
		}
	}
	switch {
	case g.o.Open, len(sent) == 0:
		return nil, false, nil
	case len(sent) > 1:
		return nil, false, asUnknownSender(scrollback.Errorf(scrollback.Refused, "access", i18n.SendOneKey))
	}
	return &credential{secret: sent[0]}, true, nil
}

// takeQueryKey takes off the parameter in which clients of Google may bring a key, and returns it: it is in no log, and
// goes nowhere.
func takeQueryKey(r *http.Request) (key string) {
	q := r.URL.Query()
	if !q.Has("key") {
		return ""
	}
	if strings.Contains(r.URL.Path, "/models") {
		key = strings.TrimSpace(q.Get("key"))
	}
	q.Del("key")
	r.URL.RawQuery = q.Encode()
	r.RequestURI = r.URL.RequestURI()
	return key
}

// listCredentials lists what a request of another API brings to be let in.
func listCredentials(r *http.Request, queryKey string) (out []string) {
	add := func(secret string) {
		if secret = strings.TrimSpace(secret); secret != "" {
			out = append(out, secret)
		}
	}
	if scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "Bearer") {
		add(secret)
	}
	add(r.Header.Get("X-Api-Key"))
	add(r.Header.Get("X-Goog-Api-Key"))
	add(queryKey)
	return out
}
