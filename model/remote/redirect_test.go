package remote_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// ear is a server that must hear nothing, not even a connection.
type ear struct {
	*httptest.Server
	conns, requests atomic.Int32
}

func listen(t *testing.T, secure bool) *ear {
	t.Helper()
	e := &ear{}
	e.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.requests.Add(1)
		good(w)
	}))
	e.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			e.conns.Add(1)
		}
	}
	if secure {
		e.StartTLS()
	} else {
		e.Start()
	}
	t.Cleanup(e.Close)
	return e
}

var redirects = []int{301, 302, 303, 307, 308}

// Neither the key, nor a header, nor what was said goes to another server.
func TestRedirectsElsewhere(t *testing.T) {
	for _, secure := range []bool{false, true} {
		for name, to := range map[string]func(own string, plain, tls *ear) string{
			"another port":   func(_ string, plain, _ *ear) string { return plain.URL + "/v1" },
			"another scheme": func(_ string, plain, tls *ear) string { return tls.URL + "/v1" },
			"the name of it": func(own string,
				_, _ *ear) string {
				return strings.Replace(own, "127.0.0.1", "localhost", 1) + "/v2"
			},
			"another name": func(_ string, plain, _ *ear) string {
				return strings.Replace(plain.URL, "127.0.0.1", "localhost", 1)
			},
			"with a name in it": func(own string,
				plain, _ *ear) string {
				return strings.Replace(plain.URL, "//", "//u:p@", 1) + "/v1"
			},
			"without a scheme": func(_ string, plain, _ *ear) string { return strings.TrimPrefix(plain.URL, "http:") + "/v1" },
			"the other scheme": func(own string, _, _ *ear) string {
				return map[bool]string{true: "http", false: "https"}[secure] + own[strings.Index(own, ":"):] + "/v2"
			},
			"no scheme of theirs": func(string, *ear, *ear) string { return "ftp://127.0.0.1/v1" },
		} {
			for _, status := range redirects {
				t.Run(strings.Join([]string{map[bool]string{true: "https", false: "http"}[secure], name, http.StatusText(status)},
					" "),
					func(t *testing.T) {
						plain := listen(t, false)
						tls := listen(t, true)
						first := &ear{}
						first.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
							first.requests.Add(1)
							w.Header().Set("Location", to(first.URL, plain, tls))
							w.WriteHeader(status)
						}))
						if secure {
							first.StartTLS()
						} else {
							first.Start()
						}
						t.Cleanup(first.Close)
						tr := tls.Client().Transport.(*http.Transport).Clone()
						tr.TLSClientConfig.InsecureSkipVerify = true // a server that were asked would get the key
						o := remote.Options{Client: &http.Client{Transport: tr}}
						_, err := ask(client(o), first.URL+"/v1", model.Request{})
						own(t, err, scrollback.Unavailable, "to another server, to which nothing is sent (ACME_URL)")
						if plain.conns.Load()+tls.conns.Load() > 0 || first.requests.Load() != 1 {
							t.Errorf("%d and %d connections elsewhere, %d requests here", plain.conns.Load(), tls.conns.Load(),
								first.requests.Load())
						}
						var v any
						own(t, client(o).GetJSON(t.Context(), first.URL+"/models", &v), scrollback.Unavailable, "to another server")
						if plain.conns.Load()+tls.conns.Load() > 0 {
							t.Error("asking for the list told another server")
						}
					})
			}
		}
	}
}

// On the same server a request is sent on whole, or not at all.
func TestRedirectsHere(t *testing.T) {
	for _, status := range redirects {
		var there atomic.Int32
		srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v1" {
				http.Redirect(w, r, "/v1/", status)
				return
			}
			there.Add(1)
			body, _ := io.ReadAll(r.Body)
			if r.Method == http.MethodPost && (!strings.Contains(string(body), sent) ||
				r.Header.Get("Authorization") != "Bearer "+key) {
				t.Errorf("%d: %s %q arrives", status, r.Method, body)
			}
			if r.Method == http.MethodGet {
				io.WriteString(w, `{}`)
				return
			}
			good(w)
		})
		a, err := ask(client(remote.Options{}), srv.URL+"/v1", model.Request{})
		if keeps := status >= 307; keeps && (err != nil || a.Text == "") {
			t.Errorf("%d: %v", status, err)
		} else if !keeps {
			own(t, err, scrollback.Unavailable, "without the request's body")
		}
		var v any
		if err := client(remote.Options{}).GetJSON(t.Context(), srv.URL+"/v1", &v); err != nil {
			t.Errorf("%d: a list is not followed: %v", status, err)
		}
	}
}

// The same server under another spelling is the same server; circles end.
func TestRedirectSpellings(t *testing.T) {
	var tries atomic.Int32
	var to string
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if tries.Add(1); r.URL.Path == "/v2" {
			good(w)
			return
		}
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusPermanentRedirect)
	})
	tr := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, srv.Listener.Addr().String())
	}}
	t.Cleanup(tr.CloseIdleConnections)
	c := client(remote.Options{Client: &http.Client{Transport: tr}})
	for location, follows := range map[string]bool{
		"/v2": true, "v2": true, "http://acme.test/v2": true, "http://ACME.test:80/v2": true, "HTTP://acme.TEST/v2": true,
		"//acme.test/v2":           true,
		"http://acme.test:8080/v2": false, "http://acme.test.evil/v2": false, "http://evil.acme.test/v2": false,
		"http://acme.test@evil/v2": false, "https://acme.test/v2": false,
		"https://acme.test:80/v2": false, "http://acme.test./v2": false,
	} {
		tries.Store(0)
		to = location
		_, err := ask(c, "http://acme.test/v1", model.Request{})
		if (err == nil) != follows || !follows && tries.Load() != 1 {
			t.Errorf("%s: %v after %d requests", location, err, tries.Load())
		}
	}
	tries.Store(0)
	to = "/v1"
	_, err := ask(c, "http://acme.test/v1", model.Request{})
	if own(t, err, scrollback.Unavailable, "in circles"); tries.Load() != 4 {
		t.Errorf("%d requests in circles", tries.Load())
	}
}
