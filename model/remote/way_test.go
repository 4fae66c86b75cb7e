package remote_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// certify makes a certificate that signs itself, and those who trust it.
func certify(t *testing.T, host string, until time.Time) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host},
		NotBefore:             until.Add(-48 * time.Hour),
		NotAfter:              until,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true, IsCA: true}
	if ip := net.ParseIP(host); ip != nil {
		c.IPAddresses = []net.IP{ip}
	} else {
		c.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if c, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	pool.AddCert(c)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}, pool
}

// What is wrong on the way to a server is said as what it is, and names what to set.
func TestWay(t *testing.T) {
	goodUntil := time.Now().Add(24 * time.Hour)
	cert, pool := certify(t, "127.0.0.1", goodUntil)
	old, oldPool := certify(t, "127.0.0.1", time.Now().Add(-time.Hour))
	foreign, foreignPool := certify(t, "acme.example", goodUntil)
	secure := func(t *testing.T, cert tls.Certificate, change func(*tls.Config)) string {
		srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { good(w) }))
		srv.Config.ErrorLog = log.New(io.Discard, "", 0)
		srv.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
		if change != nil {
			change(srv.TLS)
		}
		srv.StartTLS()
		t.Cleanup(srv.Close)
		return srv.URL
	}
	for name, c := range map[string]struct {
		url   func(t *testing.T) string
		tls   *tls.Config
		code  scrollback.Code
		words string
	}{
		"good": {func(t *testing.T) string { return secure(t, cert, nil) }, &tls.Config{RootCAs: pool}, "", ""},
		"expired": {func(t *testing.T) string { return secure(t, old, nil) }, &tls.Config{RootCAs: oldPool},
			scrollback.Unavailable,
			"it has expired, or is not valid yet (ACME_URL)"},
		"another host": {func(t *testing.T) string { return secure(t, foreign, nil) }, &tls.Config{RootCAs: foreignPool},
			scrollback.Unavailable, "it belongs to another host (ACME_URL)"},
		"unknown authority": {func(t *testing.T) string { return secure(t, cert, nil) }, &tls.Config{RootCAs: foreignPool},
			scrollback.Unavailable, "it is signed by nobody known (ACME_URL)"},
		"another purpose": {func(t *testing.T) string { return secure(t, cert, nil) },
			&tls.Config{RootCAs: pool, VerifyConnection: func(tls.ConnectionState) error {
				return x509.CertificateInvalidError{Reason: x509.IncompatibleUsage}
			}}, scrollback.Unavailable, "it is not valid (ACME_URL)"},
		"http at https": {func(t *testing.T) string {
			return strings.Replace(serve(t, func(w http.ResponseWriter, r *http.Request) { good(w) }).URL, "http:", "https:", 1)
		}, nil, scrollback.Unavailable, "it speaks plain http, and its address says https (ACME_URL)"},
		"https at http": {func(t *testing.T) string { return strings.Replace(secure(t, cert, nil), "https:", "http:", 1) },
			nil,
			scrollback.Unavailable, "it speaks https, and its address says http (ACME_URL)"},
		"old TLS": {func(t *testing.T) string {
			return secure(t, cert, func(c *tls.Config) {
				c.MinVersion = tls.VersionTLS10
				c.MaxVersion = tls.VersionTLS11
			})
		}, &tls.Config{RootCAs: pool}, scrollback.Unavailable, "no common version of TLS was found (ACME_URL)"},
		"new TLS": {func(t *testing.T) string {
			return secure(t, cert, func(c *tls.Config) { c.MinVersion = tls.VersionTLS13 })
		},
			&tls.Config{RootCAs: pool, MaxVersion: tls.VersionTLS12}, scrollback.Unavailable,
			"no common version of TLS was found (ACME_URL)"},
		"nobody listens": {func(t *testing.T) string {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			l.Close()
			return "http://" + l.Addr().String()
		}, nil, scrollback.Unavailable, "nothing listens at its address; is it running? (ACME_URL)"},
		"unknown host": {func(*testing.T) string { return "https://acme.invalid/v1" }, nil, scrollback.Unavailable,
			"the host in its address is unknown (ACME_URL)"},
		"no port": {func(*testing.T) string { return "http://127.0.0.1:99999/v1" }, nil, scrollback.Unavailable,
			"the connection to it failed"},
		"hangs up": {func(t *testing.T) string {
			return serve(t, func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) }).URL
		}, nil, scrollback.Unavailable, "the connection to it failed"},
		"no scheme": {func(*testing.T) string { return "127.0.0.1/v1" }, nil, scrollback.Invalid,
			"the address of acme is not valid (ACME_URL)"},
		"no host": {func(*testing.T) string { return "https:///v1" }, nil, scrollback.Invalid, "is not valid"},
		"a file":  {func(*testing.T) string { return "file:///etc/passwd" }, nil, scrollback.Invalid, "is not valid"},
		"no URL":  {func(*testing.T) string { return "http://a b\n" }, nil, scrollback.Invalid, "is not valid"},
		"empty":   {func(*testing.T) string { return "" }, nil, scrollback.Invalid, "is not valid"},
	} {
		t.Run(name, func(t *testing.T) {
			resolver := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
				return nil, errors.New("this test has no network")
			}}
			tr := &http.Transport{TLSClientConfig: c.tls, DialContext: (&net.Dialer{Resolver: resolver}).DialContext}
			t.Cleanup(tr.CloseIdleConnections)
			_, err := ask(client(remote.Options{Client: &http.Client{Transport: tr}, Retries: 1}), c.url(t), model.Request{})
			if c.code == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			own(t, err, c.code, c.words)
		})
	}
}

// A key that cannot be sent is refused before anybody is asked, and not shown.
func TestBadKeys(t *testing.T) {
	srv := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("it was sent") })
	for _, bad := range []string{key + "\n", key[:9] + "\r\n" + key[9:], key + "\x00", key + "\x7f", "\x1b[31m" + key} {
		c := remote.New(remote.Options{Provider: "acme", Key: bad, KeyVariable: "ACME_KEY",
			Header: map[string]string{"Authorization": "Bearer " + bad}, Pause: time.Microsecond})
		_, err := ask(c, srv.URL, model.Request{})
		own(t, err, scrollback.Refused, "the key of acme contains a line break or another control character (ACME_KEY)")
	}
}

func TestPlace(t *testing.T) {
	p := remote.Preset{Name: "acme", URL: "https://acme.test/{account}/v1", Key: "ACME_KEY", Base: "ACME_URL",
		Account: "ACME_ACCOUNT"}
	for name, c := range map[string]struct {
		id    string
		env   map[string]string
		url   string
		words string
	}{
		"good": {"m", map[string]string{"ACME_KEY": " k\n", "ACME_ACCOUNT": "a/b"}, "https://acme.test/a%2Fb/v1",
			""},
		"no account":     {"m", map[string]string{"ACME_KEY": "k"}, "", "set ACME_ACCOUNT"},
		"no key":         {"m", map[string]string{"ACME_ACCOUNT": "a"}, "", "set ACME_KEY"},
		"no model":       {"", map[string]string{"ACME_KEY": "k"}, "", "write acme/NAME"},
		"own address":    {"m", map[string]string{"ACME_URL": " http://[::1]:8080/v1// "}, "http://[::1]:8080/v1", ""},
		"nonsense":       {"m", map[string]string{"ACME_URL": "nonsense"}, "", "ACME_URL is not an address"},
		"no scheme":      {"m", map[string]string{"ACME_URL": "127.0.0.1:80/v1"}, "", "ACME_URL is not an address"},
		"a host's name":  {"m", map[string]string{"ACME_URL": "localhost:1234/v1"}, "", "ACME_URL is not an address"},
		"another scheme": {"m", map[string]string{"ACME_URL": "ws://x/v1"}, "", "ACME_URL is not an address"},
		"a query":        {"m", map[string]string{"ACME_URL": "https://x/v1?key=k-secret"}, "", "ACME_URL is not an address"},
		"a line break":   {"m", map[string]string{"ACME_URL": "https://x/\nv1"}, "", "ACME_URL is not an address"},
	} {
		at, err := p.Endpoint(c.id, func(k string) string { return c.env[k] }, remote.Options{})
		if c.words == "" && (err != nil || at.BaseURL != c.url || at.Custom != (c.env["ACME_URL"] != "") ||
			at.Options.Key != strings.TrimSpace(c.env["ACME_KEY"])) {
			t.Errorf("%s: %+v %v", name, at, err)
		}
		if c.words != "" && (err == nil || !strings.Contains(err.Error(), c.words) ||
			strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
