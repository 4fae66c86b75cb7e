package local_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/local"
	"github.com/scrollback-ai/scrollback/model"
)

func open(t *testing.T, dir string, o *local.Options) *local.Scrollback {
	t.Helper()
	sb, err := local.Open(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sb.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return sb
}

func create(t *testing.T, sb *local.Scrollback, c scrollback.Conversation) scrollback.ConversationID {
	t.Helper()
	c, _, err := sb.Create(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return c.ID
}

func ask(ctx context.Context, sb *local.Scrollback, id scrollback.ConversationID, text string) (string, error) {
	return scrollback.ReplyOf(sb.Turn(ctx, engine.TurnRequest{Conversation: id, Message: scrollback.Say(text)}))
}

// contents returns every file below a folder with its bytes, and every folder.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			out[path] = "a folder"
			return err
		}
		b, err := os.ReadFile(path)
		out[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What cannot be opened is an error that says why, and of which kind; options that
// cannot be leave nothing behind.
func TestCannotOpen(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("a text, and long enough to be read as a database"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dir   string // empty: a new one
		o     local.Options
		code  scrollback.Code
		param string
	}{
		{file, local.Options{}, scrollback.Unavailable, ""},
		{filepath.Join(file, "below"), local.Options{}, scrollback.Unavailable, ""},
		{file, local.Options{Mode: local.Existing}, scrollback.Unavailable, ""},
		{file, local.Options{Mode: local.ReadOnly}, scrollback.Unavailable, ""},
		{"", local.Options{Mode: local.ReadOnly}, scrollback.NotFound, ""},
		{"", local.Options{Database: "sqlite://" + file}, scrollback.Refused, ""},
		{"", local.Options{Database: "sqlite://" + filepath.Dir(file)}, scrollback.Invalid, ""},
		{"", local.Options{Database: "mysql://host/name"}, scrollback.Invalid, "database"},
		{"", local.Options{Database: "postgres://name:pass/word@host/name"}, scrollback.Refused, ""},
		{"", local.Options{Database: "postgresql://host/name", Mode: local.Existing}, scrollback.Refused, ""},
		{"", local.Options{Database: "sqlite:relative"}, scrollback.Invalid, "database"},
		{"", local.Options{Database: "sqlite://host/path"}, scrollback.Invalid, "database"},
		{"", local.Options{Database: "%"}, scrollback.Invalid, "database"},
		{"", local.Options{Objects: "ftp://host"}, scrollback.Invalid, "objects"},
		{"", local.Options{Objects: "s3://"}, scrollback.Invalid, "objects"},
		{"", local.Options{Objects: "file:relative"}, scrollback.Invalid, "objects"},
		{"", local.Options{Objects: "%"}, scrollback.Invalid, "objects"},
		{"", local.Options{Objects: "%", Mode: local.Existing}, scrollback.Invalid, "objects"},
		{"", local.Options{Objects: "%", Database: "memory:"}, scrollback.Invalid, "objects"},
		{"", local.Options{Objects: "memory:"}, scrollback.Invalid, "objects"}, // a database that lasts
		{"", local.Options{Mode: 99}, scrollback.Invalid, "mode"},
		{"", local.Options{Mode: local.ReadOnly, Database: "memory:"}, scrollback.Invalid, "mode"},
		{"", local.Options{Database: "sqlite:///x.db?mode=ro"}, scrollback.Invalid, "database"},
		{"", local.Options{Objects: "s3://bucket?nope=1"}, scrollback.Refused, ""},
		{"", local.Options{Objects: "gs://bucket"}, scrollback.Refused, ""},
		{"", local.Options{Objects: "azblob://container", Database: "memory:"}, scrollback.Refused, ""},
		{"", local.Options{Objects: "file://" + file}, scrollback.Unavailable, ""},
	} {
		dir := c.dir
		if dir == "" {
			dir = t.TempDir()
		}
		sb, err := local.Open(t.Context(), dir, &c.o)
		var known *scrollback.Error
		if sb != nil || !errors.As(err, &known) || known.Code != c.code || known.Param != c.param {
			t.Errorf("%s, %+v: %v", dir, c.o, err)
		}
		if c.code == scrollback.Invalid {
			if made := len(contents(t, dir)); made != 1 {
				t.Errorf("%+v made %d things", c.o, made-1)
			}
		}
	}
	if _, err := local.Open(t.Context(), "", nil); scrollback.CodeOf(err) != scrollback.Invalid {
		t.Errorf("no folder: %v", err)
	}
	if b, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(b), "a text") {
		t.Errorf("a file that is no database was changed: %q, %v", b, err)
	}
}

func TestCloseTwice(t *testing.T) {
	sb := open(t, t.TempDir(), nil)
	id := create(t, sb, scrollback.Conversation{})
	for range 2 {
		if err := sb.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	if err := new(local.Scrollback).Close(); err != nil {
		t.Errorf("close of what was not opened: %v", err)
	}
	if _, err := ask(t.Context(), sb, id, "Hello?"); scrollback.CodeOf(err) != scrollback.Unavailable {
		t.Errorf("a turn after the end: %v", err)
	}
}

// Close stops a turn that runs, and what it has said is kept.
func TestCloseInATurn(t *testing.T) {
	dir := t.TempDir()
	slow := newSlow()
	sb := open(t, dir, &local.Options{Model: "slow", Models: map[string]model.Model{"slow": slow}})
	id := create(t, sb, scrollback.Conversation{})
	said := make(chan error)
	go func() { _, err := ask(context.Background(), sb, id, "Hello?"); said <- err }()
	<-slow.begun
	if err := sb.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-said; scrollback.CodeOf(err) != scrollback.Canceled {
		t.Errorf("the turn ended with %v", err)
	}
	ms, _, err := open(t, dir, nil).Recall().Messages(t.Context(), id, scrollback.PageQuery{})
	if err != nil || len(ms) != 2 || ms[1].Status != scrollback.StatusInterrupted || ms[1].Parts.Text() != "so " {
		t.Errorf("kept: %+v, %v", ms, err)
	}
}

// slow says a word, and the rest when it is let go.
type slow struct {
	begun chan struct{} // gets one for each reply that began
	rest  chan struct{}
}

func newSlow() slow { return slow{make(chan struct{}, 9), make(chan struct{})} }

func (slow) Facts() model.Facts { return model.Facts{Name: "slow", NoSummaries: true} }

func (s slow) Stream(ctx context.Context, _ model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		if !yield(model.Delta{Text: "so "}, nil) {
			return
		}
		s.begun <- struct{}{}
		select {
		case <-s.rest:
			yield(model.Delta{Text: "slow", Finish: scrollback.FinishStop}, nil)
		case <-ctx.Done():
			yield(model.Delta{}, scrollback.Wrap(scrollback.Canceled, "slow", ctx.Err()))
		}
	}
}

// Existing makes nothing where nothing is, and is like any other where something is.
func TestExisting(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	sb := open(t, dir, &local.Options{Mode: local.Existing})
	if cs, _, err := sb.List(t.Context(), scrollback.ListQuery{}); err != nil || len(cs) != 0 {
		t.Errorf("found %d conversations, %v", len(cs), err)
	}
	create(t, sb, scrollback.Conversation{})
	if err := sb.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("the folder was made: %v", err)
	}
	create(t, open(t, dir, nil), scrollback.Conversation{})
	sb = open(t, dir, &local.Options{Mode: local.Existing})
	create(t, sb, scrollback.Conversation{})
	if cs, _, err := sb.List(t.Context(), scrollback.ListQuery{}); err != nil || len(cs) != 2 {
		t.Errorf("found %d conversations, %v", len(cs), err)
	}
}

// ReadOnly reads everything, refuses what would write, and changes no byte.
func TestReadOnly(t *testing.T) {
	dir := t.TempDir()
	sb := open(t, dir, nil)
	id := create(t, sb, scrollback.Conversation{})
	if _, err := ask(t.Context(), sb, id, "The code is 7F3K."); err != nil {
		t.Fatal(err)
	}
	if _, err := sb.Compact(t.Context(), id, engine.CompactRequest{Clear: true}); err != nil {
		t.Fatal(err)
	}
	if err := sb.Close(); err != nil {
		t.Fatal(err)
	}
	before := contents(t, dir)

	ctx := t.Context()
	sb = open(t, dir, &local.Options{Mode: local.ReadOnly})
	refs, _, err := sb.Recall().Refs(ctx, id, scrollback.RefQuery{})
	if err != nil || len(refs) != 1 {
		t.Fatalf("refs: %v, %v", refs, err)
	}
	if page, err := sb.Recall().Read(ctx, id, refs[0].Ref, 0, 0); err != nil || !strings.Contains(page.Content, "7F3K") {
		t.Errorf("read: %v, %v", page, err)
	}
	if found, err := sb.Recall().Search(ctx, scrollback.SearchQuery{Query: "7F3K"}); err != nil || len(found.Hits) == 0 {
		t.Errorf("search: %v, %v", found, err)
	}
	if err := sb.Export(ctx, id, transfer.ExportRequest{}, new(bytes.Buffer)); err != nil {
		t.Errorf("export: %v", err)
	}
	for what, do := range map[string]func() error{
		"create":  func() error { _, _, err := sb.Create(ctx, scrollback.Conversation{}); return err },
		"turn":    func() error { _, err := ask(ctx, sb, id, "Hello?"); return err },
		"trash":   func() error { _, err := sb.Trash(ctx, id); return err },
		"purge":   func() error { _, err := sb.Purge(ctx, id); return err },
		"compact": func() error { _, err := sb.Uncompact(ctx, id, ""); return err },
		"import": func() error {
			_, err := sb.Import(ctx, strings.NewReader(`{"role": "user", "content": "x"}`), transfer.ImportRequest{})
			return err
		},
	} {
		if err := do(); scrollback.CodeOf(err) != scrollback.Refused {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := sb.Close(); err != nil {
		t.Error(err)
	}
	if after := contents(t, dir); !maps.Equal(before, after) {
		t.Errorf("the folder was changed: %q, and now %q", slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)))
	}
}

// Two may have one folder open: each sees what the other wrote, and a conversation has
// one turn at a time.
func TestTwoAtOnce(t *testing.T) {
	dir := t.TempDir()
	slow := newSlow()
	o := &local.Options{Models: map[string]model.Model{"slow": slow}}
	var both [2]*local.Scrollback
	var wait sync.WaitGroup
	for i := range both { // of a folder that is not there yet
		wait.Go(func() {
			var err error
			if both[i], err = local.Open(t.Context(), filepath.Join(dir, "data"), o); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if t.Failed() {
		return
	}
	a := both[0]
	b := both[1]
	id := create(t, a, scrollback.Conversation{Model: "slow"})
	said := make(chan string)
	go func() {
		reply, err := ask(context.Background(), a, id, "Hello?")
		said <- fmt.Sprint(reply, err)
	}()
	<-slow.begun
	if _, err := ask(t.Context(), b, id, "Hello?"); scrollback.CodeOf(err) != scrollback.Conflict {
		t.Errorf("a second turn at once: %v", err)
	}
	close(slow.rest)
	if got := <-said; got != "so slow<nil>" {
		t.Errorf("the first said %s", got)
	}
	if reply, err := ask(t.Context(), b, id, "And now?"); err != nil || reply != "so slow" {
		t.Errorf("afterwards: %q, %v", reply, err)
	}
	if c, err := a.Get(t.Context(), id); err != nil || c.Messages != 4 {
		t.Errorf("the first sees %d messages, %v", c.Messages, err)
	}
	for _, sb := range both {
		if err := sb.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Database and artifacts may be elsewhere, by URL.
func TestPlaces(t *testing.T) {
	dir := t.TempDir()
	other := t.TempDir()
	at := func(name string) string { return filepath.ToSlash(filepath.Join(other, name)) }
	for _, c := range []struct {
		o    local.Options
		made []string // besides what SQLite keeps beside its file
	}{
		{local.Options{Database: "memory:"}, nil},
		{local.Options{Database: "memory:", Objects: "file://" + at("bytes")}, []string{"bytes"}},
		{local.Options{Database: "sqlite://" + at("deep/here.db"), Objects: "file://" + at("deep/bytes")},
			[]string{"bytes", "deep"}},
	} {
		sb := open(t, dir, &c.o)
		id := create(t, sb, scrollback.Conversation{})
		kept, err := sb.Upload(t.Context(), id, strings.NewReader("a big output"), "out.txt")
		if err != nil {
			t.Fatal(err)
		}
		if page, err := sb.Recall().Read(t.Context(), id, scrollback.ArtifactRef(kept.ID), 0, 0); err != nil ||
			page.Content != "a big output" {
			t.Errorf("%+v: read %+v, %v", c.o, page, err)
		}
		var made []string
		entries, err := os.ReadDir(other)
		for _, e := range entries {
			made = append(made, e.Name())
		}
		if err != nil || !slices.Equal(made, c.made) {
			t.Errorf("%+v made %q, %v", c.o, made, err)
		}
		if here := len(contents(t, dir)); here != 1 {
			t.Errorf("%+v made %d things in the folder", c.o, here-1)
		}
	}
	if _, err := os.Stat(at("deep/here.db")); err != nil {
		t.Error(err)
	}
}

// Models are found by name: the caller's own first. One that cannot be asked is an
// error where it is first needed, and hides nothing that is kept.
func TestModels(t *testing.T) {
	none := func(string) string { return "" }
	key := func(name string) string { return map[string]string{"OPENAI_API_KEY": "sk"}[name] }
	dir := t.TempDir()
	id := create(t, open(t, dir, nil), scrollback.Conversation{})
	unknown := map[string]scrollback.Code{"nope": scrollback.Invalid, "openai/": scrollback.Invalid,
		"openai/gpt-5": scrollback.Refused}
	for name, code := range unknown {
		sb := open(t, dir, &local.Options{Model: name, Env: none})
		_, _, err := sb.Create(t.Context(), scrollback.Conversation{})
		if code == scrollback.Refused { // a key is needed only where the model is asked
			code = ""
		}
		if scrollback.CodeOf(err) != code || errors.Is(err, scrollback.ErrNoModel) != (name == "nope") {
			t.Errorf("a conversation with %s: %v", name, err)
		}
		if _, err := ask(t.Context(), sb, id, "Hello?"); scrollback.CodeOf(err) != unknown[name] {
			t.Errorf("a turn with %s: %v", name, err)
		}
		if c, err := sb.Get(t.Context(), id); err != nil || c.Messages != 0 {
			t.Errorf("%d messages, %v", c.Messages, err)
		}
	}

	sb := open(t, t.TempDir(), &local.Options{Env: key, Models: map[string]model.Model{
		"slow": newSlow(), "offline": shout{}, "openai/gpt-5": shout{}, "none": nil}})
	all, err := sb.Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, m := range all {
		count[m.Name]++
	}
	for name, want := range map[string]int{"slow": 1, "offline": 1, "openai/gpt-5": 1, "openai/gpt-5-mini": 1, "none": 0} {
		if count[name] != want {
			t.Errorf("%s is listed %d times", name, count[name])
		}
	}
	if reply, err := ask(t.Context(), sb, create(t, sb, scrollback.Conversation{}), "hello"); err != nil ||
		reply != "HELLO " {
		t.Errorf("a model of one's own in place of the built-in one: %q, %v", reply, err)
	}
}
