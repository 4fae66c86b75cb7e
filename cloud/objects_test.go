package cloud_test

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cloud"
	"github.com/scrollback-ai/scrollback/cloud/objectstest"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/local/objects"
)

// open opens a place of objects.
func open(t *testing.T, at string) *objects.Store {
	t.Helper()
	p, err := objects.ParsePlace(t.TempDir(), at, cloud.Buckets())
	if err != nil {
		t.Fatal(err)
	}
	s, err := objects.Open(t.Context(), p, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Bucket.Close() })
	return s
}

func archiveOf(s *objects.Store) *archive.Archive {
	return archive.New(nil, s.Bucket, &archive.Options{Durable: s.Durable, Explain: s.ExplainError, Grace: -1,
		Sign: func(ctx context.Context, key string, d archive.Download) (string, error) {
			return s.SignURL(ctx, key, objects.Download{MediaType: d.MediaType, Disposition: d.Disposition, Cache: d.Cache,
				For: d.For})
		}})
}

func TestFolder(t *testing.T) { suite(t, "", nil) }
func TestMemory(t *testing.T) { suite(t, "memory:", nil) }

// What is wrong with a URL is said without what its parameters hold.
func TestWrongParameters(t *testing.T) {
	for at, want := range map[string]string{
		"s3://history?region=us-east-1&secret=hushhush":              `objects: open bucket s3://history: unknown query parameter "secret"`,
		"s3://history?region=us-east-1&endpoint=127.0.0.1:9000":      "objects: its endpoint is not https://HOST or http://HOST",
		"s3://history?region=us-east-1&endpoint=localhost:9000":      "objects: its endpoint is not https://HOST or http://HOST",
		"s3://history/team?region=us-east-1&endpoint=s3.example.org": "objects: its endpoint is not https://HOST or http://HOST",
	} {
		p, err := objects.ParsePlace(t.TempDir(), at, cloud.Buckets())
		if err != nil {
			t.Fatal(err)
		}
		_, err = objects.Open(t.Context(), p, false)
		if scrollback.CodeOf(err) != scrollback.Invalid || scrollback.PublicMessage(err) != want {
			t.Errorf("%s: got %v, want %s", at, err, want)
		}
	}
}

func TestLenientService(t *testing.T) {
	s := objectstest.StartLenient(t)
	suite(t, s.URL(""), s)
	suite(t, s.URL("team/a"), s)
}

func TestStrictService(t *testing.T) {
	s := objectstest.StartStrict(t)
	suite(t, s.URL(""), s)
	suite(t, s.URL("team/a"), s)
}

// suite is what every place of objects has to pass; service is nil for those that are not
// reached over the network.
func suite(t *testing.T, at string, service *objectstest.Service) {
	s := open(t, at)
	if err := s.ProbeStore(t.Context(), true); err != nil {
		t.Fatalf("the probe: %v", err)
	}
	if err := s.CheckReady(t.Context()); err != nil {
		t.Errorf("not ready: %v", err)
	}
	a := archiveOf(s)
	artifacts(t, a)
	copies(t, a)
	big := make([]byte, 20<<20) // sent in parts
	_, _ = rand.NewChaCha8([32]byte{1}).Read(big)
	id, size, err := a.PutArtifact(t.Context(), bytes.NewReader(big), 1<<30)
	if err != nil || size != int64(len(big)) {
		t.Fatalf("%d bytes, %v", size, err)
	}
	signed(t, a, id, big, service != nil)
	if gone, err := a.DeleteArtifact(t.Context(), id); !gone || err != nil {
		t.Errorf("deleted: %v %v", gone, err)
	}
	if service != nil {
		if left := service.ListKeys(t); len(left) != 0 {
			t.Errorf("the bucket still holds %v", left)
		}
	}
}

func artifacts(t *testing.T, a *archive.Archive) {
	t.Helper()
	ctx := t.Context()
	var ids []scrollback.ArtifactID
	for _, text := range []string{"", "one", strings.Repeat("水位 high\n", 3000)} {
		id, _, err := a.PutArtifact(ctx, strings.NewReader(text), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if again, _, err := a.PutArtifact(ctx, strings.NewReader(text), 1<<20); err != nil || again != id {
			t.Errorf("put again: %s %v", again, err)
		}
		f, size, err := a.OpenArtifact(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(f)
		f.Close()
		if err != nil || string(got) != text || size != int64(len(text)) {
			t.Errorf("%d of %d bytes came back, %v", len(got), len(text), err)
		}
		ids = append(ids, id)
	}
	if text, err := archive.TextReader(a)(ctx, ids[2], 7); text != "水位 " || err != nil {
		t.Errorf("the first bytes are %q %v", text, err)
	}
	listed := 0
	for o, err := range a.Artifacts(ctx) {
		if err != nil || o.ID == "" {
			t.Errorf("listed: %+v %v", o, err)
		}
		listed++
	}
	if listed != len(ids) {
		t.Errorf("%d artifacts are listed", listed)
	}
	for _, id := range ids {
		if gone, err := a.DeleteArtifact(ctx, id); !gone || err != nil {
			t.Errorf("deleted: %v %v", gone, err)
		}
	}
	_, _, err := a.OpenArtifact(ctx, ids[1])
	if scrollback.CodeOf(err) != scrollback.NotFound {
		t.Errorf("what is gone is %v", err)
	}
	if has, err := a.HasArtifact(ctx, ids[1]); has || err != nil {
		t.Errorf("what is gone is there: %v", err)
	}
}

// copies are full copies of a conversation: whole or not at all, newest first.
func copies(t *testing.T, a *archive.Archive) {
	t.Helper()
	ctx := t.Context()
	id := scrollback.ConversationID("019a0000-0000-7000-8000-000000000001")
	body := strings.Repeat("message by message\n", 20_000)
	write := func(w io.Writer) error {
		for part := range strings.SplitAfterSeq(body, "\n") {
			if _, err := io.WriteString(w, part); err != nil {
				return err
			}
		}
		return nil
	}
	for at := range int64(2) {
		if _, err := a.PutCopy(ctx, id, archive.Copy{Key: archive.CopyKey(1_700_000_000_000+at, "x"), CreatedAt: at},
			write); err != nil {
			t.Fatal(err)
		}
	}
	cut := archive.CopyKey(1_700_000_000_009, "y")
	if _, err := a.PutCopy(ctx, id, archive.Copy{Key: cut}, func(w io.Writer) error {
		_, _ = io.WriteString(w, "the beginning")
		return io.ErrClosedPipe
	}); err == nil {
		t.Error("a copy that was cut off was stored")
	}
	list, err := a.Copies(ctx, id, 10)
	if err != nil || len(list) != 2 || list[0].CreatedAt != 1 || list[0].Bytes != int64(len(body)) {
		t.Fatalf("%+v %v", list, err)
	}
	_, r, err := a.OpenCopy(ctx, id, list[1].Key)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	r.Close()
	if err != nil || string(got) != body {
		t.Errorf("%d of %d bytes came back, %v", len(got), len(body), err)
	}
	if _, _, err := a.OpenCopy(ctx, id, cut); scrollback.CodeOf(err) != scrollback.NotFound {
		t.Errorf("the copy that was cut off: %v", err)
	}
	if _, _, err := a.DeleteConversation(ctx, id, nil); err != nil {
		t.Fatal(err)
	}
	if list, err := a.Copies(ctx, id, 10); len(list) != 0 || err != nil {
		t.Errorf("left are %+v %v", list, err)
	}
}

// signed fetches an artifact from the service, by somebody who has no key.
func signed(t *testing.T, a *archive.Archive, id scrollback.ArtifactID, whole []byte, can bool) {
	t.Helper()
	const how = `attachment; filename*=utf-8''%E6%B0%B4.bin`
	d := archive.Download{MediaType: "image/png", Disposition: how, Cache: "private", For: time.Minute}
	at, err := archive.SignArtifact(t.Context(), a, id, d)
	if err != nil || (at != "") != can {
		t.Fatalf("signed: %q %v", at, err)
	}
	nothing := scrollback.ArtifactID(strings.Repeat("0", 64))
	_, err = archive.SignArtifact(t.Context(), a, nothing, d)
	if scrollback.CodeOf(err) != scrollback.NotFound {
		t.Errorf("what is not there was signed: %v", err)
	}
	if !can {
		return
	}
	for span, want := range map[string][]byte{"": whole, "bytes=5-9": whole[5:10]} {
		ask, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, nil)
		if err != nil {
			t.Fatal(err)
		}
		if span != "" {
			ask.Header.Set("Range", span)
		}
		got, err := http.DefaultClient.Do(ask)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(got.Body)
		got.Body.Close()
		if err != nil || !bytes.Equal(b, want) || got.Header.Get("Content-Type") != "image/png" ||
			got.Header.Get("Content-Disposition") != how {
			t.Errorf("range %q: %s, %d of %d bytes, %v %v", span, got.Status, len(b), len(want), got.Header, err)
		}
	}
}
