package enginetest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// Log returns every message of a conversation's path.
func (r *Rig) Log(id scrollback.ConversationID) []scrollback.Message {
	r.T.Helper()
	var out []scrollback.Message
	for m, err := range r.AllMessages(context.Background(), id) {
		if err != nil {
			r.T.Fatal(err)
		}
		out = append(out, m)
	}
	return out
}

// LogOutline returns the log in short, a line for each message: the first letter of its role, its
// status if not complete, its text, its calls (→) and results (←).
func (r *Rig) LogOutline(id scrollback.ConversationID) string {
	r.T.Helper()
	var b strings.Builder
	for _, m := range r.Log(id) {
		b.WriteString(string(m.Role[0]))
		if m.Status != scrollback.StatusComplete {
			b.WriteString("(" + string(m.Status) + ")")
		}
		b.WriteString(":" + m.Parts.Text())
		for _, c := range m.Parts.Calls() {
			b.WriteString("→" + c.ID)
		}
		for _, c := range m.Parts.Results() {
			b.WriteString("←" + c.CallID)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// WantOutline wants the log to have this Shape, a line for each message.
func (r *Rig) WantOutline(id scrollback.ConversationID, want ...string) {
	r.T.Helper()
	if got := r.LogOutline(id); got != strings.Join(want, "\n")+"\n" {
		r.T.Fatalf("the log is\n%swant\n%s", got, strings.Join(want, "\n"))
	}
}

// CheckViews wants live messages plus refs to be exactly the path, whatever was folded.
func CheckViews(t *testing.T, r *Rig, id scrollback.ConversationID) {
	t.Helper()
	m, err := r.Context(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	next := int64(1)
	for _, x := range m.Excluded {
		if x.Reason != "folded" {
			continue
		}
		if x.FirstSeq != next || x.Ref == nil {
			t.Fatalf("the folded runs jump from #%d to #%d", next-1, x.FirstSeq)
		}
		text := r.ReadAll(id, *x.Ref)
		if !strings.Contains(text, fmt.Sprint(x.FirstSeq)) {
			t.Fatalf("%s does not speak of #%d", *x.Ref, x.FirstSeq)
		}
		next = x.LastSeq + 1
	}
	for _, l := range m.Layers {
		if l.Name != scrollback.LayerMessages {
			continue
		}
		for _, it := range l.Items {
			if it.Seq >= next {
				next = it.Seq + 1
			}
		}
	}
	if c, _ := r.Get(context.Background(), id); next != c.Messages+1 {
		t.Fatalf("refs and live messages end at #%d of %d", next-1, c.Messages)
	}
}

// ReadBigPages is ReadAll by the biggest pages.
func (r *Rig) ReadBigPages(id scrollback.ConversationID, ref scrollback.Ref) string {
	r.T.Helper()
	var b strings.Builder
	for page := (scrollback.Page{}); !page.Done; {
		var err error
		if page, err = r.Read(context.Background(), id, ref, page.NextOffset, scrollback.ReadMax); err != nil {
			r.T.Fatal(err)
		}
		b.WriteString(page.Content)
	}
	return b.String()
}

// ReadAll returns what a ref points at, read in many small pages.
func (r *Rig) ReadAll(id scrollback.ConversationID, ref scrollback.Ref) string {
	r.T.Helper()
	var b strings.Builder
	for offset := int64(0); ; {
		p, err := r.Read(context.Background(), id, ref, offset, 1000)
		if err != nil {
			r.T.Fatal(err)
		}
		b.WriteString(p.Content)
		if p.Done {
			return b.String()
		}
		offset = p.NextOffset
	}
}
