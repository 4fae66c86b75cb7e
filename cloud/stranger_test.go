package cloud_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cloud/objectstest"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// A redirect is not followed: what is signed, and what is stored, goes to no other host.
func TestRedirectsAreNotFollowed(t *testing.T) {
	objectstest.UseKey(t, objectstest.Key{ID: "key", Secret: "secret-of-key"})
	var strayed atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strayed.Add(1) }))
	defer elsewhere.Close()
	var all int
	for _, status := range []int{301, 302, 303, 307, 308} {
		var asked atomic.Int64
		served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			http.Redirect(w, r, strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1)+r.URL.Path, status)
		}))
		place := open(t, objectstest.PlaceURL(served.URL, ""))
		a := archiveOf(place)
		_, _, err := a.PutArtifact(t.Context(), strings.NewReader("content"), 9)
		const words = "another region"
		told(t, err, words, true)
		_, _, err = a.OpenArtifact(t.Context(), scrollback.ArtifactID(strings.Repeat("ab", 32)))
		told(t, err, words, true)
		for _, err := range a.Artifacts(t.Context()) {
			told(t, err, words, true)
			all++
		}
		told(t, place.ProbeStore(t.Context(), true), words, true)
		if asked.Load() == 0 {
			t.Error("nothing was asked")
		}
		served.Close()
	}
	if n := strayed.Load(); n != 0 || all != 5 {
		t.Errorf("%d requests went to another host; %d lists ended with an error", n, all)
	}
}

// A list that does not end, by a service that sends the same again or says for ever that there is
// more, ends with an error.
func TestEndlessList(t *testing.T) {
	objectstest.UseKey(t, objectstest.Key{ID: "key", Secret: "secret-of-key"})
	page := func(token, keys string) string {
		return `<?xml version="1.0"?><ListBucketResult><Name>` + objectstest.Bucket +
			`</Name><IsTruncated>true</IsTruncated>` +
			`<NextContinuationToken>` + token + `</NextContinuationToken>` + keys + `</ListBucketResult>`
	}
	one := func(key string) string {
		return `<Contents><Key>` + key +
			`</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><Size>1</Size></Contents>`
	}
	for name, next := range map[string]func(n int64) string{
		"the same page": func(int64) string { return page("again", one("artifacts/aa/x")+one("artifacts/ab/x")) },
		"new tokens":    func(n int64) string { return page(fmt.Sprint("t", n), one("artifacts/aa/x")) },
		"two pages": func(n int64) string {
			return page(fmt.Sprint("t", n%2), one(fmt.Sprint("artifacts/a", n%2, "/x")))
		},
		"empty pages":       func(n int64) string { return page(fmt.Sprint("t", n), "") },
		"the same token":    func(int64) string { return page("again", "") },
		"not what is asked": func(n int64) string { return page(fmt.Sprint("t", n), one(fmt.Sprintf("other/%09d", n))) },
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int64
			served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/xml")
				fmt.Fprint(w, next(asked.Add(1)))
			}))
			defer served.Close()
			place := open(t, objectstest.PlaceURL(served.URL, ""))
			var last error
			n := 0
			for _, err := range archiveOf(place).Artifacts(t.Context()) {
				last = err
				n++
			}
			told(t, last, "not an object store", true)
			if n > 3 || asked.Load() > 101 {
				t.Errorf("%d objects after %d requests", n, asked.Load())
			}
		})
	}
}

// A connection that ends in the middle of a list is no end of it.
func TestListCutOff(t *testing.T) {
	objectstest.UseKey(t, objectstest.Key{ID: "key", Secret: "secret-of-key"})
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		fmt.Fprint(w, `<?xml version="1.0"?><ListBucketResult>`)
		panic(http.ErrAbortHandler)
	}))
	defer served.Close()
	var last error
	for _, err := range archiveOf(open(t, objectstest.PlaceURL(served.URL, ""))).Artifacts(t.Context()) {
		last = err
	}
	told(t, last, "cannot be reached", false)
}

// A connection that is closed without a response is no end of a list either: the client's error
// for it wraps that of an end.
func TestListWithoutResponse(t *testing.T) {
	testlength.SkipShort(t)
	objectstest.UseKey(t, objectstest.Key{ID: "key", Secret: "secret-of-key"})
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
	served := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter,
		*http.Request) {
		panic(http.ErrAbortHandler)
	}))
	defer served.Close()
	place := open(t, objectstest.PlaceURL(served.URL, ""))
	var last error
	for _, err := range archiveOf(place).Artifacts(t.Context()) {
		last = err
	}
	told(t, last, "cannot be reached", false)
}
