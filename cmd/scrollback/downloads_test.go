package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback/cloud/objectstest"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// uploaded puts an attachment into a new conversation, and returns its path and status.
func (s *served) uploaded(content []byte, name string) (path string, status int) {
	s.t.Helper()
	var c, art struct{ ID string }
	if got := s.do(http.MethodPost, "/api/conversations", map[string]any{}, &c); got != http.StatusCreated {
		s.t.Fatalf("no conversation: %d", got)
	}
	status = s.do(http.MethodPost, "/api/artifacts?conversation="+c.ID+"&name="+name, bytes.NewReader(content), &art)
	return "/api/artifacts/" + art.ID + "?conversation=" + c.ID, status
}

// fetched asks once, and follows nothing.
func (s *served) fetched(method, path string, header ...string) (*http.Response, []byte) {
	s.t.Helper()
	if !strings.HasPrefix(path, "http") {
		path = s.url + path
	}
	ask, err := http.NewRequestWithContext(s.t.Context(), method, path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		ask.Header.Set(header[i], header[i+1])
	}
	got, err := http.DefaultTransport.RoundTrip(ask)
	if err != nil {
		s.t.Fatal(err)
	}
	defer got.Body.Close()
	b, err := io.ReadAll(got.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return got, b
}

const aPicture = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR and so on"

// Where downloads are signed, a client that may read an artifact is sent to the bucket, for
// some minutes, and gets the bytes with their type and name there; the page may show
// pictures from there, and from nowhere else.
func TestSignedDownloads(t *testing.T) {
	service := objectstest.StartStrict(t)
	s := serve(t, t.TempDir(), []string{"SCROLLBACK_DOWNLOADS=signed", "SCROLLBACK_OBJECTS=" + service.URL("team")})
	path, status := s.uploaded([]byte(aPicture), "%E9%92%A5.png")
	if status != http.StatusCreated {
		t.Fatal(status)
	}
	sent, _ := s.fetched(http.MethodGet, path)
	at := sent.Header.Get("Location")
	if sent.StatusCode != http.StatusFound ||
		!strings.HasPrefix(at, service.Endpoint+"/"+objectstest.Bucket+"/team/artifacts/") ||
		!strings.Contains(at, "X-Amz-Expires=300") || sent.Header.Get("Cache-Control") != "private, max-age=150" {
		t.Fatalf("%d %v", sent.StatusCode, sent.Header)
	}
	got, b := s.fetched(http.MethodGet, at)
	if string(b) != aPicture || got.Header.Get("Content-Type") != "image/png" ||
		got.Header.Get("Content-Disposition") != "inline; filename*=utf-8''%E9%92%A5.png" {
		t.Errorf("from the bucket: %d %v %q", got.StatusCode, got.Header, b)
	}
	if got, b := s.fetched(http.MethodGet, at, "Range", "bytes=1-3"); got.StatusCode != http.StatusPartialContent ||
		string(b) != "PNG" {
		t.Errorf("a range: %d %q", got.StatusCode, b)
	}
	longer := strings.Replace(at, "X-Amz-Expires=300", "X-Amz-Expires=3000", 1)
	if got, b := s.fetched(http.MethodGet, longer); got.StatusCode != http.StatusForbidden {
		t.Errorf("a URL that was changed: %d %q", got.StatusCode, b)
	}
	if got, b := s.fetched(http.MethodHead, path); got.StatusCode != http.StatusOK ||
		got.ContentLength != int64(len(aPicture)) || len(b) > 0 {
		t.Errorf("HEAD: %d %v", got.StatusCode, got.Header)
	}
	var c struct{ ID string }
	s.do(http.MethodPost, "/api/conversations", map[string]any{}, &c)
	name, _, _ := strings.Cut(path, "?")
	got, _ = s.fetched(http.MethodGet, name+"?conversation="+c.ID)
	if got.StatusCode != http.StatusNotFound || got.Header.Get("Location") != "" {
		t.Errorf("through a conversation that does not mention it: %d %v", got.StatusCode, got.Header)
	}
	front, _ := s.fetched(http.MethodGet, "/")
	if policy := front.Header.Get("Content-Security-Policy"); !strings.Contains(policy,
		"img-src 'self' data: "+service.Endpoint+";") ||
		strings.Count(policy, service.Endpoint) != 1 {
		t.Errorf("the page may load %s", policy)
	}
}

// The server sends the bytes itself unless it is told otherwise, and where nothing can be
// signed.
func TestDownloadsFromHere(t *testing.T) {
	service := objectstest.StartLenient(t)
	for name, env := range map[string][]string{"default": {"SCROLLBACK_OBJECTS=" + service.URL("team")},
		"a folder": {"SCROLLBACK_DOWNLOADS=signed"}} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, t.TempDir(), env)
			path, _ := s.uploaded([]byte(aPicture), "a.png")
			got, b := s.fetched(http.MethodGet, path)
			tag := got.Header.Get("ETag")
			if got.StatusCode != http.StatusOK || string(b) != aPicture || tag == "" {
				t.Errorf("%d %v %q", got.StatusCode, got.Header, b)
			}
			if got, b := s.fetched(http.MethodGet, path, "Range", "bytes=1-3"); got.StatusCode != http.StatusPartialContent ||
				string(b) != "PNG" {
				t.Errorf("a range: %d %q", got.StatusCode, b)
			}
			if got, _ := s.fetched(http.MethodGet, path, "If-None-Match", tag); got.StatusCode != http.StatusNotModified {
				t.Errorf("what is known already: %d", got.StatusCode)
			}
			if got, _ := s.fetched(http.MethodHead, path); got.ContentLength != int64(len(aPicture)) {
				t.Errorf("HEAD: %d %v", got.StatusCode, got.Header)
			}
			if front, _ := s.fetched(http.MethodGet, "/"); strings.Contains(front.Header.Get("Content-Security-Policy"),
				"http") {
				t.Errorf("the page may load %s", front.Header.Get("Content-Security-Policy"))
			}
		})
	}
}

// A bucket that will not do is said when a server starts and by doctor; what the bucket
// does not have, no conversation is begun for.
func TestBucketThatWillNotDo(t *testing.T) {
	testlength.SkipShort(t)
	service := objectstest.StartStrict(t)
	none := strings.Replace(service.URL(""), objectstest.Bucket, "another", 1)
	reader := service.AddKey(t, "reader", "s3:GetObject", "s3:ListBucket")
	for _, c := range []struct {
		name, at string
		key      objectstest.Key
		words    string
		chinese  string
	}{
		{"no bucket", none, objectstest.Key{ID: "owner", Secret: "secret-of-owner"}, "no such bucket", "没有这个存储桶"},
		{"no permission", service.URL(""), reader, "may not write to the bucket", "无权写入存储桶"},
		{"wrong secret", service.URL(""), objectstest.Key{ID: "owner", Secret: "secret-of-nobody"}, "does not accept the key",
			"不接受该密钥"},
	} {
		t.Run(c.name, func(t *testing.T) {
			objectstest.UseKey(t, c.key)
			data := t.TempDir()
			output(t, data, "run", "hello")
			for _, args := range [][]string{{"serve", "--addr", "127.0.0.1:0"}, {"doctor"}} {
				for lang, words := range map[string]string{"C": c.words, "zh_CN.UTF-8": c.chinese} {
					cmd := command(t, data, []string{"LC_ALL=" + lang}, append(args, "--objects", c.at)...)
					said, err := cmd.CombinedOutput()
					// A check goes on where only writing is refused.
					if goesOn := args[0] == "doctor" && c.key == reader; (err == nil) != goesOn ||
						!strings.Contains(string(said), words) {
						t.Errorf("%s in %s: %v\n%s", args[0], lang, err, said)
					}
					if strings.Contains(string(said), "secret-of") {
						t.Errorf("it tells a secret: %s", said)
					}
				}
			}
		})
	}
}

// gate stands in front of a service, and can fall: from some request on, which is cut off
// in its middle, nothing passes.
type gate struct {
	mu   sync.Mutex
	left int // requests that pass; less than none is down
	next http.Handler
}

func (g *gate) set(left int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.left = left
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	left := g.left
	g.left = max(left-1, -1)
	g.mu.Unlock()
	if left == 0 { // it dies with half of what was sent
		_, _ = io.CopyN(io.Discard, r.Body, r.ContentLength/2)
	}
	if left <= 0 {
		panic(http.ErrAbortHandler)
	}
	g.next.ServeHTTP(w, r)
}

// A bucket that dies loses nothing that was acknowledged, and what was not is not there by
// half. The server says that it is not ready, and is again when the bucket is.
func TestBucketThatDies(t *testing.T) {
	testlength.SkipShort(t)
	service := objectstest.StartLenient(t)
	to, err := url.Parse(service.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	const open = 1 << 20
	before := &gate{left: open, next: httputil.NewSingleHostReverseProxy(to)}
	front := httptest.NewServer(before)
	defer front.Close()
	s := serve(t, t.TempDir(), []string{"SCROLLBACK_OBJECTS=" + objectstest.PlaceURL(front.URL, "team")})
	kept := map[string]string{}
	refused := 0
	for left := 0; ; left++ {
		content := fmt.Sprintf("%d %s", left, strings.Repeat("x", 1<<20))
		before.set(left)
		path, status := s.uploaded([]byte(content), "a.txt")
		if status == http.StatusCreated {
			kept[path] = content
			break
		}
		if refused++; status != http.StatusServiceUnavailable {
			t.Errorf("cut off after %d requests: %d", left, status)
		}
		if left > 10 {
			t.Fatal("no upload comes through")
		}
	}
	if refused == 0 {
		t.Fatal("the gate did not fall")
	}
	before.set(-1)
	ready := func() bool { return s.do(http.MethodGet, "/readyz", nil, nil) == http.StatusOK }
	until(t, time.Minute, func() bool { return !ready() }) // what was found before is good for some seconds
	before.set(open)
	until(t, time.Minute, ready)
	for path, content := range kept {
		if got, b := s.fetched(http.MethodGet, path); got.StatusCode != http.StatusOK || string(b) != content {
			t.Errorf("what was acknowledged came back with %d, %d bytes", got.StatusCode, len(b))
		}
	}
	whole := map[string]bool{}
	for _, content := range kept {
		sum := sha256.Sum256([]byte(content))
		whole[hex.EncodeToString(sum[:])] = true
	}
	for _, key := range service.ListKeys(t) {
		if name := key[strings.LastIndexByte(key, '/')+1:]; !whole[name] {
			t.Errorf("the bucket holds %s, which was not acknowledged", key)
		}
	}
}
