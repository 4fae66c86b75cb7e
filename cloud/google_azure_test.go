//go:build allclouds

package cloud_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback/internal/archive"
)

// imitation is a store that knows the calls which are made of Google's and Azure's.
type imitation struct {
	mu     sync.Mutex
	kept   map[string][]byte
	blocks map[string][]byte // of uploads to Azure that have not ended

	refuse, readOnly func(w http.ResponseWriter) // of everything, and of what writes
}

func (m *imitation) names(prefix string) (names []string) {
	for name := range m.kept {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// serve runs an imitation by one of its faces.
func (m *imitation) serve(t *testing.T, face func(m *imitation, w http.ResponseWriter, r *http.Request)) string {
	m.kept = map[string][]byte{}
	m.blocks = map[string][]byte{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.refuse != nil {
			m.refuse(w)
			return
		}
		if m.readOnly != nil && r.Method != http.MethodGet && r.Method != http.MethodHead {
			m.readOnly(w)
			return
		}
		face(m, w, r)
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// send sends an object, or a range of it.
func (m *imitation) send(w http.ResponseWriter, r *http.Request, name string, missing func()) {
	b, ok := m.kept[name]
	if !ok {
		missing()
		return
	}
	if span := r.Header.Get("x-ms-range"); span != "" {
		r.Header.Set("Range", span)
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("ETag", `"1"`)
	if len(b) == 0 {
		w.Header().Set("Content-Length", "0")
		w.Header().Set("Last-Modified", time.Unix(1_700_000_000, 0).UTC().Format(http.TimeFormat))
		return
	}
	http.ServeContent(w, r, "", time.Unix(1_700_000_000, 0), strings.NewReader(string(b)))
}

func google(m *imitation, w http.ResponseWriter, r *http.Request) {
	const api = "/storage/v1/b/history/o"
	told := func(name string) map[string]any {
		return map[string]any{"kind": "storage#object", "name": name, "bucket": "history", "generation": "1",
			"size": fmt.Sprint(len(m.kept[name])), "updated": "2023-11-14T22:13:20Z", "timeCreated": "2023-11-14T22:13:20Z",
			"etag": "1"}
	}
	missing := func() { refuseGoogle(w, http.StatusNotFound, "notFound", "No such object") }
	name := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, api), "/")
	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/upload"+api:
		_, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
		parts := multipart.NewReader(r.Body, params["boundary"])
		var named struct{ Name string }
		first, err := parts.NextPart()
		if err != nil || json.NewDecoder(first).Decode(&named) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		second, err := parts.NextPart()
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		m.kept[named.Name], _ = io.ReadAll(second)
		_ = json.NewEncoder(w).Encode(told(named.Name))
	case r.Method == http.MethodGet && r.URL.Path == api:
		items := []any{}
		for _, n := range m.names(r.URL.Query().Get("prefix")) {
			items = append(items, told(n))
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"kind": "storage#objects", "items": items})
	case r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, api):
		if _, ok := m.kept[name]; !ok {
			missing()
		} else if r.URL.Query().Get("alt") == "media" {
			m.send(w, r, name, missing)
		} else {
			_ = json.NewEncoder(w).Encode(told(name))
		}
	case r.Method == http.MethodDelete:
		if _, ok := m.kept[name]; !ok {
			missing()
			return
		}
		delete(m.kept, name)
		w.WriteHeader(http.StatusNoContent)
	default: // reading has a shorter path
		m.send(w, r, strings.TrimPrefix(r.URL.Path, "/history/"), missing)
	}
}

func refuseGoogle(w http.ResponseWriter, status int, reason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"code": status, "message": message,
		"errors": []any{map[string]any{"reason": reason, "message": message}}}})
}

func refuseAzure(w http.ResponseWriter, status int, code string) {
	w.Header().Set("x-ms-error-code", code)
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<?xml version=\"1.0\"?><Error><Code>%s</Code><Message>no</Message></Error>", code)
}

func azure(m *imitation, w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	name := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/account/history"), "/")
	missing := func() { refuseAzure(w, http.StatusNotFound, "BlobNotFound") }
	w.Header().Set("x-ms-blob-type", "BlockBlob")
	w.Header().Set("x-ms-creation-time", "Tue, 14 Nov 2023 22:13:20 GMT")
	switch {
	case q.Get("comp") == "list":
		w.Header().Set("Content-Type", "application/xml")
		fmt.Fprint(w, `<?xml version="1.0"?><EnumerationResults><Blobs>`)
		for _, n := range m.names(q.Get("prefix")) {
			fmt.Fprintf(w, "<Blob><Name>%s</Name><Properties><Last-Modified>Tue, 14 Nov 2023 22:13:20 GMT</Last-Modified>"+
				"<Content-Length>%d</Content-Length><BlobType>BlockBlob</BlobType></Properties></Blob>", n, len(m.kept[n]))
		}
		fmt.Fprint(w, "</Blobs><NextMarker/></EnumerationResults>")
	case q.Get("comp") == "block":
		m.blocks[name+q.Get("blockid")], _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusCreated)
	case q.Get("comp") == "blocklist":
		var list struct{ Latest []string }
		if xml.NewDecoder(r.Body).Decode(&list) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		m.kept[name] = []byte{}
		for _, id := range list.Latest {
			m.kept[name] = append(m.kept[name], m.blocks[name+id]...)
		}
		w.WriteHeader(http.StatusCreated)
	case r.Method == http.MethodPut:
		m.kept[name], _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusCreated)
	case r.Method == http.MethodDelete:
		if _, ok := m.kept[name]; !ok {
			missing()
			return
		}
		delete(m.kept, name)
		w.WriteHeader(http.StatusAccepted)
	default:
		m.send(w, r, name, missing)
	}
}

// onCloud runs an imitation of a kind and returns the place of its bucket.
func onCloud(t *testing.T, kind string) (*imitation, string) {
	m := &imitation{}
	if kind == "google" {
		t.Setenv("STORAGE_EMULATOR_HOST", m.serve(t, google))
		return m, "gs://history/team"
	}
	t.Setenv("AZURE_STORAGE_ACCOUNT", "account")
	t.Setenv("AZURE_STORAGE_KEY", base64.StdEncoding.EncodeToString([]byte("secret-of-account")))
	return m, "azblob://history/team?protocol=http&localemu=true&domain=" + m.serve(t, azure)
}

func TestClouds(t *testing.T) {
	for _, kind := range []string{"google", "azure"} {
		t.Run(kind, func(t *testing.T) {
			m, at := onCloud(t, kind)
			s := open(t, at)
			if err := s.ProbeStore(t.Context(), true); err != nil {
				t.Fatal(err)
			}
			if err := s.CheckReady(t.Context()); err != nil {
				t.Error(err)
			}
			a := archiveOf(s)
			artifacts(t, a)
			copies(t, a)
			if left := m.names(""); len(left) > 0 {
				t.Errorf("the bucket still holds %v", left)
			}
		})
	}
}

func TestCloudsInWords(t *testing.T) {
	for _, c := range []struct {
		kind    string
		refuse  func(w http.ResponseWriter)
		words   string
		lasting bool
	}{
		{"google", func(w http.ResponseWriter) {
			refuseGoogle(w, http.StatusNotFound, "notFound", "The specified bucket does not exist.")
		}, "no such bucket", true},
		{"google", func(w http.ResponseWriter) { refuseGoogle(w, http.StatusForbidden, "forbidden", "no") }, "may not", true},
		{"google", func(w http.ResponseWriter) { refuseGoogle(w, http.StatusUnauthorized, "authError", "no") },
			"does not accept the key", true},
		{"azure", func(w http.ResponseWriter) { refuseAzure(w, http.StatusNotFound, "ContainerNotFound") }, "no such bucket",
			true},
		{"azure", func(w http.ResponseWriter) { refuseAzure(w, http.StatusForbidden, "AuthorizationPermissionMismatch") },
			"may not", true},
		{"azure", func(w http.ResponseWriter) { refuseAzure(w, http.StatusForbidden, "AuthenticationFailed") },
			"does not accept the key", true},
	} {
		m, at := onCloud(t, c.kind)
		m.refuse = c.refuse
		told(t, open(t, at).ProbeStore(t.Context(), true), c.words, c.lasting)
	}
}

// What cannot be written is said, and the program goes on.
func TestCloudsThatTakeNothing(t *testing.T) {
	for kind, refuse := range map[string]func(w http.ResponseWriter){
		"google": func(w http.ResponseWriter) { refuseGoogle(w, http.StatusForbidden, "forbidden", "no") },
		"azure":  func(w http.ResponseWriter) { refuseAzure(w, http.StatusForbidden, "AuthorizationPermissionMismatch") },
	} {
		m, at := onCloud(t, kind)
		m.readOnly = refuse
		s := open(t, at)
		told(t, s.ProbeStore(t.Context(), true), "may not", true)
		a := archiveOf(s)
		_, _, err := a.PutArtifact(t.Context(), strings.NewReader("one"), 9)
		told(t, err, "may not", true)
		_, err = a.PutCopy(t.Context(), "019a0000-0000-7000-8000-000000000001",
			archive.Copy{Key: archive.CopyKey(1_700_000_000_000, "x")},
			func(w io.Writer) error { _, err := io.WriteString(w, strings.Repeat("x", 1<<20)); return err })
		told(t, err, "may not", true)
	}
}

// Azure signs with the key of the account; what it would send is in the URL.
func TestAzureSigns(t *testing.T) {
	_, at := onCloud(t, "azure")
	a := archiveOf(open(t, at))
	id, _, err := a.PutArtifact(t.Context(), strings.NewReader("one"), 9)
	if err != nil {
		t.Fatal(err)
	}
	d := archive.Download{MediaType: "image/png", Disposition: `inline; filename=a.png`, Cache: "private",
		For: time.Minute}
	got, err := archive.SignArtifact(t.Context(), a, id, d)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(got)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	if !strings.HasSuffix(u.Path, "/account/history/team/artifacts/"+string(id[:2])+"/"+string(id)) ||
		q.Get("sp") != "r" ||
		q.Get("rsct") != "image/png" || q.Get("rscd") != d.Disposition || q.Get("sig") == "" {
		t.Errorf("signed as %s", got)
	}
	if strings.Contains(got, "secret") {
		t.Error("the key is in the URL")
	}
}
