package cloud_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cloud/objectstest"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/local/objects"
)

// told holds what is said of a bucket against some words, and against what must never be
// said: keys, and what the operator alone should read.
func told(t *testing.T, err error, words string, lasting bool) {
	t.Helper()
	if scrollback.CodeOf(err) != scrollback.Unavailable || !strings.Contains(scrollback.PublicMessage(err), words) {
		t.Errorf("%v is shown as %q, want %q", err, scrollback.PublicMessage(err), words)
		return
	}
	if objects.IsLasting(err) != lasting {
		t.Errorf("%v: lasting is %v", err, !lasting)
	}
	for _, secret := range []string{"secret-of", "X-Amz-Signature", "Credential="} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error tells %s: %v", secret, err)
		}
	}
	if shown := scrollback.PublicMessage(err); strings.Contains(shown, "127.0.0.1") ||
		strings.Contains(shown, objectstest.Bucket) {
		t.Errorf("callers read where the bucket is: %s", shown)
	}
}

// A key that may not do something is told what, before anything is stored.
func TestKeyThatMayNot(t *testing.T) {
	s := objectstest.StartStrict(t)
	all := []string{"s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:ListBucket"}
	without := func(action string) (out []string) {
		for _, a := range all {
			if a != action {
				out = append(out, a)
			}
		}
		return out
	}
	for _, c := range []struct {
		name    string
		actions []string
		words   string
	}{
		{"nothing", nil, "may not"}, {"all", all, ""},
		{"noget", without("s3:GetObject"), "s3:GetObject"}, {"noput", without("s3:PutObject"), "s3:PutObject"},
		{"nodelete", without("s3:DeleteObject"), "s3:DeleteObject"}, {"nolist", without("s3:ListBucket"), "s3:ListBucket"},
	} {
		t.Run(c.name, func(t *testing.T) {
			objectstest.UseKey(t, s.AddKey(t, c.name, c.actions...))
			place := open(t, s.URL("team"))
			err := place.ProbeStore(t.Context(), true)
			if c.words == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			told(t, err, c.words, true)
			if c.name == "noput" { // reading alone is fine
				if err := place.ProbeStore(t.Context(), false); err != nil {
					t.Error(err)
				}
				_, _, err := archiveOf(place).PutArtifact(t.Context(), strings.NewReader("x"), 9)
				told(t, err, "may not write", true)
			}
		})
	}
}

func TestWrongKey(t *testing.T) {
	s := objectstest.StartStrict(t)
	for words, key := range map[string]objectstest.Key{"does not accept the key": {ID: "nobody",
		Secret: "secret-of-nobody"},
		"check the key and its secret": {ID: "owner", Secret: "secret-of-somebody"}, "there is no key": {}} {
		objectstest.UseKey(t, key)
		place := open(t, s.URL(""))
		told(t, place.ProbeStore(t.Context(), true), words, true)
		told(t, place.CheckReady(t.Context()), words, true)
	}
}

func TestNoSuchBucket(t *testing.T) {
	for name, s := range map[string]*objectstest.Service{"lenient": objectstest.StartLenient(t),
		"strict": objectstest.StartStrict(t)} {
		t.Run(name, func(t *testing.T) {
			place := open(t, strings.Replace(s.URL(""), "://"+objectstest.Bucket, "://another", 1))
			const words = "no such bucket"
			told(t, place.ProbeStore(t.Context(), true), words, true)
			told(t, place.CheckReady(t.Context()), words, true)
			_, _, err := archiveOf(place).PutArtifact(t.Context(), strings.NewReader("x"), 9)
			told(t, err, words, true)
		})
	}
}

// refusal returns what a service that speaks S3 sends with an error.
func refusal(status int, code string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		if r.Method != http.MethodHead {
			fmt.Fprintf(w, "<?xml version=\"1.0\"?><Error><Code>%s</Code><Message>no</Message></Error>", code)
		}
	})
}

func page(status int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "<!DOCTYPE html><p>Welcome")
	})
}

// What a service refuses, or what stands in its place, is said in words.
func TestFaultsInWords(t *testing.T) {
	testlength.SkipShort(t)
	objectstest.UseKey(t, objectstest.Key{ID: "key", Secret: "secret-of-key"})
	// The client tries again, and waits in between: all at once.
	var all sync.WaitGroup
	var mu sync.Mutex
	for name, c := range map[string]struct {
		served  http.Handler
		words   string
		lasting bool
	}{
		"redirect":  {refusal(301, "PermanentRedirect"), "another region", true},
		"region":    {refusal(400, "AuthorizationHeaderMalformed"), "another region", true},
		"clock":     {refusal(403, "RequestTimeTooSkewed"), "clock", false},
		"slow":      {refusal(503, "SlowDown"), "overloaded", false},
		"broken":    {refusal(500, "InternalError"), "out of order", false},
		"quota":     {refusal(403, "QuotaExceeded"), "no room", false},
		"expired":   {refusal(400, "ExpiredToken"), "expired", true},
		"forbidden": {refusal(403, "AccessDenied"), "may not read", true},
		"page":      {page(200), "not an object store", true},
		"lost page": {page(404), "not an object store", true},
		"bad page":  {page(400), "not an object store", true},
		"proxy":     {page(502), "out of order", false},
		"method":    {page(405), "not an object store", true},
		"hung up": {http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }),
			"cannot be reached", false},
		"login page": {page(403), "may not", true},
	} {
		all.Go(func() {
			served := httptest.NewServer(c.served)
			defer served.Close()
			err := open(t, objectstest.PlaceURL(served.URL, "")).ProbeStore(t.Context(), true)
			mu.Lock()
			defer mu.Unlock()
			t.Log(name)
			told(t, err, c.words, c.lasting)
		})
	}
	all.Wait()
}

func TestUnreachable(t *testing.T) {
	objectstest.UseKey(t, objectstest.Key{ID: "key", Secret: "secret-of-key"})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := l.Addr().String()
	l.Close()
	quiet := log.New(io.Discard, "", 0)
	plain := httptest.NewServer(page(200))
	defer plain.Close()
	secret := httptest.NewUnstartedServer(page(200))
	secret.Config.ErrorLog = quiet
	secret.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	secret.StartTLS()
	defer secret.Close()
	var all sync.WaitGroup
	var mu sync.Mutex
	for at, words := range map[string]string{"http://" + nobody: "cannot be reached", secret.URL: "certificate",
		"https" + strings.TrimPrefix(plain.URL, "http"):  "does not speak TLS",
		"http" + strings.TrimPrefix(secret.URL, "https"): "not an object store"} {
		all.Go(func() {
			err := open(t, objectstest.PlaceURL(at, "")).ProbeStore(t.Context(), true)
			mu.Lock()
			defer mu.Unlock()
			told(t, err, words, words != "cannot be reached")
		})
	}
	all.Wait()
}
