package cloud_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cloud/objectstest"
	"github.com/scrollback-ai/scrollback/internal/identity"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/internal/vault"
)

// meeting is a machine that uses a vault in a bucket.
type meeting struct {
	t     *testing.T
	at    string
	keys  identity.Keys
	state vault.State
	v     *vault.Vault
}

func (m *meeting) objects() vault.Objects {
	s := open(m.t, m.at)
	return vault.NewBucket(s.Bucket, s.ExplainError)
}

func (m *meeting) save(s vault.State) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	m.state = vault.State{}
	return json.Unmarshal(text, &m.state)
}

func (m *meeting) open() error {
	v, err := vault.Open(m.t.Context(), m.objects(), m.keys, m.state, m.save)
	m.v = v
	return err
}

func (m *meeting) read() (out []string) {
	m.t.Helper()
	if err := m.open(); err != nil {
		m.t.Fatal(err)
	}
	if _, err := m.v.Look(m.t.Context()); err != nil {
		m.t.Fatal(err)
	}
	for b, err := range m.v.Read(m.t.Context()) {
		if err != nil {
			m.t.Fatal(err)
		}
		out = append(out, string(b.Bytes))
		m.v.Applied(b)
	}
	if err := m.v.Keep(); err != nil {
		m.t.Fatal(err)
	}
	return out
}

func texts(of ...string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, text := range of {
			if !yield([]byte(text), nil) {
				return
			}
		}
	}
}

func newMeeting(t *testing.T, at string) *meeting {
	return &meeting{t: t, at: at, keys: identity.Keys{File: filepath.Join(t.TempDir(), identity.FileName)}}
}

// meetIn has two machines meet in a bucket, which has more than a page of objects in the end.
func meetIn(t *testing.T, at string) {
	t.Helper()
	a := newMeeting(t, at)
	b := newMeeting(t, at)
	v, phrase, err := vault.Init(t.Context(), a.objects(), a.keys, "a", a.save)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := vault.Join(t.Context(), b.objects(), b.keys, "b", phrase, b.save); err != nil {
		t.Fatal(err)
	}
	big := strings.Repeat("words ", 400_000)
	if err := v.Publish(t.Context(), texts("one", big, "two")); err != nil {
		t.Fatal(err)
	}
	if err := v.PutArtifact(t.Context(), "id", strings.NewReader(big)); err != nil {
		t.Fatal(err)
	}
	if got := b.read(); !slices.Equal(got, []string{"one", big, "two"}) {
		t.Fatalf("%d batches", len(got))
	}
	r, size, err := b.v.OpenArtifact(t.Context(), "id")
	if err != nil || size != int64(len(big)) {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if _, err := got.ReadFrom(r); err != nil || got.String() != big {
		t.Errorf("%d bytes, %v", got.Len(), err)
	}
	objects := a.objects()
	for i := range testlength.Choose(1100, 1100, 2300) {
		if err := objects.Put(t.Context(), fmt.Sprintf("a/others/%04d", i), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.v.Publish(t.Context(), texts("three")); err != nil {
		t.Fatal(err)
	}
	if got := a.read(); !slices.Equal(got, []string{"three"}) {
		t.Errorf("%q", got)
	}
	if n := len(a.v.News().Ignored); n < 1100 {
		t.Errorf("%d names are ignored", n)
	}
	if err := a.v.Replace(t.Context(), texts("four")); err != nil {
		t.Fatal(err)
	}
	if got := b.read(); !slices.Equal(got, []string{"four"}) {
		t.Errorf("%.20q", got)
	}
	if got := b.read(); len(got) > 0 {
		t.Errorf("%.20q again", got)
	}
}

// What stands in for S3 may know no conditional writes.
func TestVaultInBucket(t *testing.T) {
	s := objectstest.StartLenient(t)
	to, err := url.Parse(s.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	var refused atomic.Int64
	pass := httputil.NewSingleHostReverseProxy(to)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match")+r.Header.Get("If-Match") != "" {
			refused.Add(1)
			w.WriteHeader(http.StatusNotImplemented)
			return
		}
		pass.ServeHTTP(w, r)
	}))
	defer front.Close()
	meetIn(t, objectstest.PlaceURL(front.URL, "history"))
	if refused.Load() > 0 {
		t.Errorf("%d conditional writes", refused.Load())
	}
}

func TestVaultInStrictBucket(t *testing.T) {
	meetIn(t, objectstest.StartStrict(t).URL("history"))
}

// A bucket that cannot be listed is refused, and nothing is written to it.
func TestVaultWithoutList(t *testing.T) {
	objectstest.UseKey(t, objectstest.Key{ID: "key", Secret: "secret-of-key"})
	var written atomic.Int64
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPut:
			written.Add(1)
		case r.URL.Query().Has("list-type"):
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `<Error><Code>AccessDenied</Code></Error>`)
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `<Error><Code>NoSuchKey</Code></Error>`)
		}
	}))
	defer front.Close()
	a := newMeeting(t, objectstest.PlaceURL(front.URL, ""))
	_, _, err := vault.Init(t.Context(), a.objects(), a.keys, "a", a.save)
	if scrollback.CodeOf(err) != scrollback.Unavailable || written.Load() > 0 ||
		!strings.Contains(err.Error(), "cannot be listed") {
		t.Errorf("%v; %d objects were written", err, written.Load())
	}
}
