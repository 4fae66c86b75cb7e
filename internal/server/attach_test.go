package server_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/internal/server/restapi"
	"github.com/scrollback-ai/scrollback/local"
)

// attachRig returns a server over a data folder of its own, in which nothing else is written.
func attachRig(t *testing.T) (s *httptest.Server, temp, conversation string) {
	temp = t.TempDir()
	for _, name := range []string{"TMPDIR", "TEMP", "TMP"} { // where bodies would be spooled
		t.Setenv(name, temp)
	}
	sb, err := local.Open(t.Context(), t.TempDir(), &local.Options{Database: "memory:"})
	if err != nil {
		t.Fatal(err)
	}
	s = httptest.NewServer(server.Handler(sb.Engine, sb.Transfer,
		server.Options{Version: "test", Limits: restapi.BodyLimits{Body: 1000}}, true))
	t.Cleanup(func() {
		s.Close()
		if err := sb.Close(); err != nil {
			t.Error(err)
		}
	})
	var c struct{ ID string }
	if status := post(t, s.URL+"/api/conversations", strings.NewReader("{}"), &c); status != http.StatusCreated {
		t.Fatal(status)
	}
	return s, temp, c.ID
}

func post(t *testing.T, url string, body io.Reader, into any) int {
	t.Helper()
	resp, err := http.Post(url, "application/json", body)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode
}

// endless is a body that counts what is read of it.
type endless struct{ read atomic.Int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.read.Add(int64(len(p)))
	return len(p), nil
}

// refusal is the body of an error.
type refusal struct {
	Error struct{ Code, Message, Param string }
}

// A body of 2 GB is refused before it is read: at once if it says how long it is, else at
// the limit. Neither memory nor disk fills up.
func TestHugeUpload(t *testing.T) {
	s, temp, id := attachRig(t)
	for path, setting := range map[string]string{"/api/artifacts?conversation=" + id: "limits.attachment_bytes",
		"/api/conversations": "limits.body_bytes"} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		const size = 2 << 30
		for _, says := range []bool{true, false} {
			body := &endless{}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, io.LimitReader(body, size))
			if err != nil {
				t.Fatal(err)
			}
			if says {
				req.ContentLength = size
			}
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Expect", "100-continue")
			most := int64(128 << 20) // the limit, what is read beyond it, and what is on its way
			resp, err := http.DefaultClient.Do(req)
			var told refusal
			switch {
			case err != nil: // the server hung up while it was sent
			case resp.StatusCode != http.StatusRequestEntityTooLarge || json.NewDecoder(resp.Body).Decode(&told) != nil ||
				!strings.Contains(told.Error.Message, setting):
				t.Errorf("%s: %d %+v", path, resp.StatusCode, told)
			}
			if resp != nil {
				resp.Body.Close()
			}
			if n := body.read.Load(); n > most {
				t.Errorf("%s: %d bytes were taken (length given: %v)", path, n, says)
			}
		}
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 64<<20 {
			t.Errorf("%s: %d bytes were allocated", path, grown)
		}
	}
	err := filepath.WalkDir(temp, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			err = fmt.Errorf("%s stays behind", path)
		}
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// A body that says it is longer than it is, and one that ends in the middle of a piece,
// leave nothing.
func TestLyingLength(t *testing.T) {
	s, _, id := attachRig(t)
	at := strings.TrimPrefix(s.URL, "http://")
	for name, body := range map[string]string{"too long a length": "Content-Length: 50\r\n\r\nshort",
		"a piece cut off":  "Transfer-Encoding: chunked\r\n\r\nff\r\nshort",
		"no length at all": "Content-Length: -3\r\n\r\nshort",
		"two lengths":      "Content-Length: 5\r\nContent-Length: 6\r\n\r\nshorts"} {
		conn, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST /api/artifacts?conversation=%s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n%s", id, at, body)
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %v %v", name, resp, err)
		}
		conn.Close()
	}
	// Of one that says it is shorter, only what it said is taken.
	conn, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn,
		"POST /api/artifacts?conversation=%s HTTP/1.1\r\nHost: %s\r\nContent-Length: 5\r\n\r\nshort and more", id, at)
	var art struct{ Size int64 }
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || json.NewDecoder(resp.Body).Decode(&art) != nil || art.Size != 5 {
		t.Errorf("%v %v %+v", resp, err, art)
	}
	var refs struct{ Refs []struct{ Bytes int64 } }
	got, err := http.Get(s.URL + "/api/conversations/" + id + "/refs")
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	if err := json.NewDecoder(got.Body).Decode(&refs); err != nil || len(refs.Refs) != 1 {
		t.Errorf("%+v %v", refs, err)
	}
}

// What an attachment is follows from its bytes. Only raster images are shown; everything
// else is downloaded, and nothing runs.
func TestAttachmentsAreSniffed(t *testing.T) {
	s, _, id := attachRig(t)
	gif := "GIF89a\x01\x00\x01\x00\x00\x00\x00!\xf9\x04\x01\n\x00\x01\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02L\x01\x00;"
	for _, c := range []struct{ name, bytes, media, how string }{
		{"page.png", "<!DOCTYPE html><script>alert(1)</script>", "text/html", "attachment"},
		{"notes.txt", gif, "image/gif", "inline"},
		{"p.jpg", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "image/png", "inline"},
		{"drawing.png", `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>`,
			"image/svg+xml", "attachment"},
		{"../../etc/钥匙.txt", "plain words", "text/plain", "attachment"},
		{"paper.txt", "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj", "application/pdf", "attachment"},
		{"empty", "", "text/plain", "attachment"},
	} {
		var art struct {
			ID        string
			MediaType string `json:"media_type"`
		}
		if status := post(t, s.URL+"/api/artifacts?conversation="+id+"&name="+strings.ReplaceAll(c.name, "/", "%2F"),
			strings.NewReader(c.bytes),
			&art); status != http.StatusCreated || art.MediaType != c.media {
			t.Errorf("%s: %d %+v", c.name, status, art)
			continue
		}
		resp, err := http.Get(s.URL + "/api/artifacts/" + art.ID + "?conversation=" + id)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		h := resp.Header
		if err != nil || string(b) != c.bytes || h.Get("Content-Type") != c.media ||
			!strings.HasPrefix(h.Get("Content-Disposition"), c.how) ||
			h.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(h.Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("%s: %v", c.name, h)
		}
		if c.media == "application/pdf" {
			resp, err := http.Get(s.URL + "/api/conversations/" + id + "/refs/artifact:" + art.ID)
			if err != nil {
				t.Fatal(err)
			}
			var told refusal
			err = json.NewDecoder(resp.Body).Decode(&told)
			if err != nil || !strings.Contains(told.Error.Message, "PDF and Office files is not read") {
				t.Errorf("the text of a PDF: %+v %v", told, err)
			}
			resp.Body.Close()
		}
	}
}

// Each limit of a message is named by what exceeds it.
func TestLimitsAreNamed(t *testing.T) {
	r := newStrictRig(t)
	var c struct{ ID string }
	if err := json.Unmarshal(r.send("POST", "/api/conversations", "{}").Body.Bytes(), &c); err != nil {
		t.Fatal(err)
	}
	parts := bytes.Repeat([]byte(`{"type":"text","text":"x"},`), 101)
	for body, limit := range map[string]string{
		`{"message": "` + strings.Repeat("x", 200_001) + `"}`:      "limits.message_chars",
		`{"message": [` + string(parts[:len(parts)-1]) + `]}`:      "limits.parts",
		`{"message": "` + strings.Repeat("x", 1<<20) + `"}`:        "limits.body_bytes",
		`{"message": "` + strings.Repeat("\u00e9", 500_001) + `"}`: "limits.message_chars",
	} {
		got := r.send("POST", "/api/conversations/"+c.ID+"/chat", body)
		if got.Code != http.StatusRequestEntityTooLarge || !strings.Contains(got.Body.String(), limit) {
			t.Errorf("%s: %d %s", limit, got.Code, got.Body)
		}
	}
}

// An attachment's name is bounded, and a download has a name that every system takes.
func TestNamesOfAttachments(t *testing.T) {
	s, _, id := attachRig(t)
	for name, want := range map[string]string{
		"":                                "attachment",
		"../../etc/passwd":                "etc-passwd",
		strings.Repeat("钥", 250) + ".txt": strings.Repeat("钥", 80) + ".txt",
		"a.txt\r\nSet-Cookie: x=1":        "a.txt  Set-Cookie- x=1",
		strings.Repeat("e.", 30) + "\u202efdp.exe": strings.Repeat("e.", 30) + "fdp.exe",
	} {
		var art scrollback.Artifact
		at := s.URL + "/api/artifacts?conversation=" + id + "&name=" + url.QueryEscape(name)
		if status := post(t, at, strings.NewReader("named "+name), &art); status != http.StatusCreated || art.Name != name {
			t.Errorf("%.40q: %d, named %.40q", name, status, art.Name)
			continue
		}
		resp, err := http.Get(s.URL + "/api/artifacts/" + string(art.ID))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		_, how, err := mime.ParseMediaType(resp.Header.Get("Content-Disposition"))
		if err != nil || how["filename"] != want {
			t.Errorf("%.40q is saved as %q, want %q (%v)", name, how["filename"], want, err)
		}
	}
	var told refusal
	at := s.URL + "/api/artifacts?conversation=" + id + "&name=" + strings.Repeat("n", 256)
	if status := post(t, at, strings.NewReader("x"), &told); status != http.StatusBadRequest ||
		told.Error.Param != "name" {
		t.Errorf("a name of 256 characters: %d %+v", status, told)
	}
}
