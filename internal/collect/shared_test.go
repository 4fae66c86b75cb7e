package collect_test

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/collect"
	"github.com/scrollback-ai/scrollback/transcript"
)

// box is a tool that keeps all its sessions in one file, as a database does: a line each,
// "id text".
type box struct{ diary }

func (b box) Sessions(_ context.Context, p transcript.Place) iter.Seq2[transcript.Session, error] {
	return func(yield func(transcript.Session, error) bool) {
		text, err := fs.ReadFile(p.FS, "box")
		if err != nil {
			return
		}
		for line := range strings.Lines(string(text)) {
			id, _, _ := strings.Cut(line, " ")
			if !yield(transcript.Session{ID: id, Name: "box", Stamp: fmt.Sprint(len(line)), Bytes: int64(len(line))}, nil) {
				return
			}
		}
	}
}

func (b box) Read(_ context.Context, p transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		b.reads.Add(1)
		text, err := fs.ReadFile(p.FS, "box")
		if err != nil {
			yield(transcript.Entry{}, err)
			return
		}
		for line := range strings.Lines(string(text)) {
			words := strings.Fields(line)
			if words[0] != s.ID {
				continue
			}
			all := []transcript.Entry{{Source: s.ID, Conversation: &scrollback.Conversation{},
				Origin: &scrollback.Origin{ID: s.ID}}}
			for _, w := range words[1:] {
				all = append(all, transcript.Entry{Source: s.ID, Message: scrollback.Message{ID: scrollback.MessageID(s.ID + w),
					Role: scrollback.RoleUser, Parts: scrollback.Say(w), CreatedAt: 1_700_000_000_000}})
			}
			for _, e := range append(all, transcript.Entry{Source: s.ID, End: &transcript.End{}}) {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// Sessions that share a file are known each by itself: one that changes says nothing about
// the others, and one that is gone is marked alone.
func TestSessionsThatShareAFile(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.o.Tools = []transcript.Tool{box{diary{name: "box", reads: d.reads, homes: func(m transcript.Machine) []string {
		return []string{filepath.Join(m.Home, "boxes")}
	}}}}
	for i, step := range []struct {
		lines string
		want  collect.Found
		reads int64
	}{
		{"a monday\nb tuesday\nc wednesday", collect.Found{New: 3, Messages: 3}, 3},
		{"a monday\nb tuesday\nc wednesday", collect.Found{Unchanged: 3}, 3},
		{"a monday\nb tuesday thursday\nc wednesday", collect.Found{Changed: 1, Unchanged: 2, Messages: 1}, 4},
		{"b tuesday thursday\nc wednesday", collect.Found{Unchanged: 2, Gone: 1}, 4},
		{"b tuesday thursday\nc wednesday", collect.Found{Unchanged: 2}, 4},
	} {
		d.write("boxes/box", step.lines)
		f := d.bring()
		got := collect.Found{New: f.New, Changed: f.Changed, Unchanged: f.Unchanged, Messages: f.Messages, Gone: f.Gone}
		if fmt.Sprint(got) != fmt.Sprint(step.want) || d.reads.Load() != step.reads {
			t.Errorf("%d: after %d reads %+v", i, d.reads.Load(), f)
		}
	}
	var gone []string
	for _, o := range d.origins() {
		if o.GoneAt != 0 {
			gone = append(gone, o.ID)
		}
	}
	if fmt.Sprint(gone) != "[a]" {
		t.Errorf("%v are gone", gone)
	}
}
