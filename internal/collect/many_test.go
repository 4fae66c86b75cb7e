package collect_test

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// book is a tool whose file is one session of many conversations: a line each, "id text".
type book struct{ diary }

func (b book) Sessions(_ context.Context, p transcript.Place) iter.Seq2[transcript.Session, error] {
	return func(yield func(transcript.Session, error) bool) {
		if text, err := fs.ReadFile(p.FS, "book"); err == nil {
			yield(transcript.Session{ID: "book", Name: "book", Stamp: string(text), Bytes: int64(len(text)),
				Changed: time.Now().UnixMilli()}, nil)
		}
	}
}

// heldWord ends what is not complete yet.
const heldWord = "…"

func (b book) Read(_ context.Context, p transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		b.reads.Add(1)
		text, err := fs.ReadFile(p.FS, "book")
		if err != nil {
			yield(transcript.Entry{}, err)
			return
		}
		for line := range strings.Lines(string(text)) {
			id, said, _ := strings.Cut(strings.TrimSpace(line), " ")
			for _, e := range []transcript.Entry{
				{Source: id, Conversation: &scrollback.Conversation{}, Origin: &scrollback.Origin{ID: id}},
				{Source: id, Message: scrollback.Message{ID: scrollback.MessageID(id), Role: scrollback.RoleUser,
					Parts:     scrollback.Say(said),
					CreatedAt: 1_700_000_000_000}},
				{Source: id, End: &transcript.End{Held: strings.HasSuffix(said, heldWord) && p.IsLive(s)}},
			} {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// A file of many conversations is read when it changes, and not because one of them is gone
// from it or in the trash here.
func TestFileOfManyConversations(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.o.Tools = []transcript.Tool{book{diary{name: "book", reads: d.reads, homes: func(m transcript.Machine) []string {
		return []string{filepath.Join(m.Home, "books")}
	}}}}
	trash := func(id string) {
		for _, o := range d.origins() {
			if o.ID == id {
				if _, err := d.sb.Trash(t.Context(), o.Conversation); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for i, step := range []struct {
		lines, trash string
		reads        int64
	}{
		{"a monday\nb tuesday\nc wednesday", "", 1},
		{"a monday\nb tuesday\nc wednesday", "", 1},
		{"b tuesday\nc wednesday", "", 2}, // a is gone
		{"b tuesday\nc wednesday", "b", 2},
		{"b tuesday\nc wednesday\nd thursday", "", 3}, // b is in the trash, and stays as it was
		{"b tuesday\nc wednesday\nd thursday", "c", 3},
		{"b tuesday\nc wednesday\nd thursday", "d", 3},
		{"a monday\nb tuesday\nc wednesday\nd thursday", "", 4},
	} {
		d.write("books/book", step.lines)
		if f := d.bring(); f.Failed != 0 || d.reads.Load() != step.reads {
			t.Errorf("%d: after %d reads %+v", i, d.reads.Load(), f)
		}
		trash(step.trash)
	}
	if gone := fmt.Sprint(d.said("monday"), d.said("tuesday")); gone != "1 0" {
		t.Errorf("found %s times", gone)
	}
}

// Files of one name in different places are different ones, and one that changes says nothing
// about the others.
func TestFilesOfOneName(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.o.Tools = []transcript.Tool{book{diary{name: "book", reads: d.reads, homes: func(m transcript.Machine) []string {
		return []string{filepath.Join(m.Home, "one"), filepath.Join(m.Home, "two")}
	}}}}
	d.write("one/book", "a monday")
	d.write("two/book", "b tuesday")
	if f := d.bring(); f.New != 2 || d.reads.Load() != 2 {
		t.Errorf("after %d reads %+v", d.reads.Load(), f)
	}
	d.write("one/book", "a monday", "c wednesday")
	if f := d.bring(); f.Changed != 1 || f.Unchanged != 1 || d.reads.Load() != 3 {
		t.Errorf("after %d reads %+v", d.reads.Load(), f)
	}
}

// What a part of a session held back is read when it has settled, though the rest was here whole.
func TestPartHeldBack(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.o.Tools = []transcript.Tool{book{diary{name: "book", reads: d.reads, homes: func(m transcript.Machine) []string {
		return []string{filepath.Join(m.Home, "books")}
	}}}}
	d.write("books/book", "book monday", "b tuesday"+heldWord)
	now := time.Now()
	d.o.Now = func() time.Time { return now }
	d.bring()
	now = now.Add(time.Hour)
	if f := d.bring(); f.Changed != 1 || f.Held != 0 || d.reads.Load() != 2 {
		t.Errorf("once it has settled: after %d reads %+v", d.reads.Load(), f)
	}
	if f := d.bring(); f.Unchanged != 1 || d.reads.Load() != 2 {
		t.Errorf("then: after %d reads %+v", d.reads.Load(), f)
	}
}
