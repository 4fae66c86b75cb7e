package moving

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cloud"
	"github.com/scrollback-ai/scrollback/cloud/objectstest"
	"github.com/scrollback-ai/scrollback/internal/blob"
	"github.com/scrollback-ai/scrollback/local/objects"
)

func bucket(t *testing.T, at string) blob.Bucket {
	t.Helper()
	place, err := objects.ParsePlace("", at, cloud.Buckets())
	if err != nil {
		t.Fatal(err)
	}
	s, err := objects.Open(t.Context(), place, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Bucket.Close() })
	return s.Bucket
}

// Objects go to a bucket and back: what is there stays, what was cut short is copied again, and
// what is damaged where it is is said.
func TestObjects(t *testing.T) {
	folder := "file://" + filepath.ToSlash(t.TempDir())
	back := "file://" + filepath.ToSlash(t.TempDir())
	service := objectstest.StartLenient(t)
	source := bucket(t, folder)
	want := map[string]string{}
	for i := range 25 {
		text := strings.Repeat(fmt.Sprint("object ", i, "\x00"), 1+i*i*100)
		sum := sha256.Sum256([]byte(text))
		want[fmt.Sprintf("artifacts/%02d/%s", i%3, hex.EncodeToString(sum[:]))] = text
	}
	want["archives/c/1.json"] = "{}"
	damaged := "artifacts/00/" + strings.Repeat("0", 64)
	want[damaged] = "not that"
	for key, text := range want {
		if err := blob.WriteAll(t.Context(), source, key, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	carry := func(from, to string, copied, same int64) {
		t.Helper()
		var log bytes.Buffer
		c, err := openObjects(t.Context(), Options{From: "postgres:///x", ObjectsFrom: from, ObjectsTo: to,
			Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		defer c.close()
		if err := c.copyAll(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if c.copied.Load() != copied || c.same.Load() != same {
			t.Errorf("%d were copied and %d were there, want %d and %d", c.copied.Load(), c.same.Load(), copied, same)
		}
		if found := strings.Contains(log.String(), damaged); found != (copied > 1) || (c.damaged.Load() == 1) != found {
			t.Errorf("%d damaged: %s", c.damaged.Load(), log.String())
		}
	}
	all := int64(len(want))
	carry(folder, service.URL("a/b"), all, 0)
	carry(folder, service.URL("a/b"), 0, all)
	if err := blob.WriteAll(t.Context(), bucket(t, service.URL("a/b")), "archives/c/1.json", []byte("{")); err != nil {
		t.Fatal(err)
	}
	carry(folder, service.URL("a/b"), 1, all-1)
	carry(service.URL("a/b"), back, all, 0)
	for key, text := range want {
		if got, err := blob.ReadAll(t.Context(), bucket(t, back), key); err != nil || string(got) != text {
			t.Errorf("%s came back as %d bytes, %v", key, len(got), err)
		}
	}
}

// People are told where a database is, and nothing that lets somebody in.
func TestName(t *testing.T) {
	for at, want := range map[string]string{
		"postgres://u:secret@db.example:5433/store?sslmode=require&password=secret": "postgres://db.example:5433/store",
		"postgres://u@/store?host=/run/pg&port=5499&passfile=secret":                "postgres:///store?host=%2Frun%2Fpg&port=5499",
	} {
		u, err := url.Parse(at)
		if err != nil {
			t.Fatal(err)
		}
		if got := displayName(u); got != want {
			t.Errorf("%s is said as %s", at, got)
		}
	}
}

// What cannot be is invalid, and says which flag.
func TestOptions(t *testing.T) {
	for _, o := range []Options{{From: "sqlite:///x", ObjectsFrom: "file:///a"},
		{From: "postgres:///x", ObjectsTo: "file:///a"},
		{From: "sqlite:///x", ObjectsTo: "memory:"}, {From: "sqlite:///x", ObjectsFrom: "nonsense", ObjectsTo: "file:///a"},
		{From: "sqlite:relative", To: "sqlite:///x"}, {From: "postgres:///x", To: ""}} {
		if o.To == "" && o.ObjectsFrom+o.ObjectsTo == "" {
			_, err := openSide(t.Context(), "to", o.To, true, nil)
			if scrollback.CodeOf(err) != scrollback.Invalid {
				t.Errorf("%+v: %v", o, err)
			}
			continue
		}
		if _, err := Move(t.Context(), o); scrollback.CodeOf(err) != scrollback.Invalid {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
