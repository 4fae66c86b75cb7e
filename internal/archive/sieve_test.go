package archive

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/blob"
)

// log is a branch of messages as a database has them: their parts as JSON.
type log struct {
	ms   []scrollback.Message
	rows [][]byte
	read int // messages that were read whole
	seg  scrollback.Segment
}

// newLog makes a log of parts, all of them also in one segment.
func newLog(t rapid.TB, escape bool, all ...scrollback.Parts) *log {
	l := &log{seg: scrollback.Segment{ID: "0a", Conversation: "c", Branch: "b", FirstSeq: 1, LastSeq: int64(len(all)),
		Renderer: Renderer}}
	for i, ps := range all {
		row, err := ps.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if escape { // as other programs write it
			var b bytes.Buffer
			json.HTMLEscape(&b, row)
			row = b.Bytes()
		}
		m := scrollback.Message{ConversationID: "c", Branch: "b", Seq: int64(i + 1), Role: scrollback.RoleAssistant,
			Status: scrollback.StatusComplete}
		if err := m.Parts.UnmarshalJSON(row); err != nil {
			t.Fatal(err)
		}
		l.ms = append(l.ms, m)
		l.rows = append(l.rows, row)
	}
	var err error
	if l.seg.Bytes, l.seg.SHA256, err = MeasureLeaf(l.seg, l.ms); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *log) ReadSegments(context.Context, []scrollback.SegmentID) ([]scrollback.Segment, error) {
	return []scrollback.Segment{l.seg}, nil
}

func (l *log) ReadMessages(_ context.Context, _ scrollback.BranchID, from, to int64) ([]scrollback.Message, error) {
	return l.ms[from-1 : to], nil
}

func (l *log) SiftMessages(_ context.Context, _ scrollback.BranchID, from, to int64,
	wanted func([]byte) bool) iter.Seq2[scrollback.Message, error] {
	return func(yield func(scrollback.Message, error) bool) {
		for i, m := range l.ms[from-1 : to] {
			if wanted != nil && !wanted(l.rows[int(from)-1+i]) {
				continue
			}
			l.read++
			if !yield(m, nil) {
				return
			}
		}
	}
}

// grepped returns what a grep of the log finds, live or folded, with the sieve or without.
func (l *log) grepped(t rapid.TB, a *Archive, q scrollback.GrepQuery,
	how struct{ folded, sieve bool }) scrollback.GrepResult {
	live := Stretch{Branch: "b", From: 1, To: int64(len(l.ms))}
	if how.folded {
		live = Stretch{Segment: "0a"}
	}
	g, err := a.startGrep(Scope{Stretches: []Stretch{live}}, q)
	if err != nil {
		t.Skip(err)
	}
	if !how.sieve {
		g.re.sieve = nil
	}
	if err := g.runGrep(context.Background(), ""); err != nil {
		t.Fatal(err)
	}
	return g.GrepResult
}

// A grep finds the same, line by line, whether or not messages are left unread: whatever
// texts, names and arguments hold, and however a row spells it.
func TestTheSieveLosesNothing(t *testing.T) {
	char := rapid.SampledFrom(strings.Split("a b k K s S é É ß i I x 3 中 文 < > & / \" \\ ` * · . , # : { } n u _ "+
		"\u212a \u017f \u2028 \ufffd \x01 \x7f \u00a0 \U0001f600", " "))
	word := rapid.Custom(func(r *rapid.T) string {
		other := rapid.SampledFrom([]string{" ", " ", "\n", "\t", "\xff", "\r\n"})
		return strings.Join(rapid.SliceOfN(rapid.OneOf(char, char, char, other), 0, 9).Draw(r, "chars"), "")
	})
	arguments := rapid.Custom(func(r *rapid.T) json.RawMessage {
		s := word.Draw(r, "argument")
		b, _ := json.Marshal(map[string]string{"name": s, "p": word.Draw(r, "other")})
		if rapid.Bool().Draw(r, "escaped") { // as some models write them
			return json.RawMessage(strings.ReplaceAll(string(b), "k", `\u006b`))
		}
		return b
	})
	part := rapid.Custom(func(r *rapid.T) scrollback.Part {
		s := word.Draw(r, "text")
		name := word.Draw(r, "name")
		switch rapid.IntRange(0, 8).Draw(r, "kind") {
		case 0:
			return scrollback.ToolCall{ID: word.Draw(r, "id"), Name: name, Arguments: arguments.Draw(r, "arguments")}
		case 1:
			return scrollback.ToolResult{CallID: word.Draw(r, "id"), Name: name, Text: s, IsError: s == ""}
		case 2:
			return scrollback.Reasoning{Text: s}
		case 3:
			return scrollback.Image{URL: "https://x/" + s, Name: name, Size: 3, Width: 3, Height: 33}
		case 4:
			return scrollback.File{Artifact: "ab", Name: name, MediaType: s}
		case 5:
			return scrollback.ToolResult{Name: scrollback.RecallPrefix + "grep", Text: s, Recall: true}
		}
		return scrollback.Text{Text: s}
	})
	quoted := rapid.Map(word, regexp.QuoteMeta)
	piece := rapid.OneOf(quoted, quoted, rapid.SampledFrom([]string{".", ".*", "[ks]", "|", "(a|b)", "(?-i:K)", "(?:ab)+",
		"a?", "^", "$",
		"Tool", "call", "result", "error", "id", "json", "```", "Reasoning", " · ", "#", "artifact:", "u00a0", `\\`}))
	bucket := blob.NewMemory()
	t.Cleanup(func() { _ = bucket.Close() })
	rapid.Check(t, func(r *rapid.T) {
		parts := rapid.Map(rapid.SliceOfN(part, 1, 3), func(ps []scrollback.Part) scrollback.Parts { return ps })
		all := rapid.SliceOfN(parts, 1, 6).Draw(r, "messages")
		l := newLog(r, rapid.Bool().Draw(r, "escape"), all...)
		pattern := strings.Join(rapid.SliceOfN(piece, 1, 3).Draw(r, "pattern"), "")
		q := scrollback.GrepQuery{Pattern: pattern, MaxResults: rapid.IntRange(1, 4).Draw(r, "max"),
			CaseSensitive: rapid.Bool().Draw(r, "sensitive"), ContextLines: rapid.IntRange(0, 2).Draw(r, "around")}
		how := struct{ folded, sieve bool }{folded: rapid.Bool().Draw(r, "folded")}
		want := l.grepped(r, New(l, bucket, nil), q, how)
		how.sieve = true
		if got := l.grepped(r, New(l, bucket, nil), q, how); !reflect.DeepEqual(got, want) {
			r.Fatalf("%q finds\n%+v, without a sieve\n%+v", q.Pattern, got, want)
		}
	})
}

// Lines that no text of a row has: put together of fields, quoted, escaped, or of a file's own
// words.
func TestTheSieveKnowsLinesOfSeveralFields(t *testing.T) {
	bucket := blob.NewMemory()
	defer func() { _ = bucket.Close() }()
	call := func(name string) scrollback.Part {
		return scrollback.ToolCall{ID: "c1", Name: name, Arguments: json.RawMessage(`{"at":1}`)}
	}
	say := func(s string) scrollback.Part { return scrollback.Text{Text: s} }
	for pattern, c := range map[string]struct {
		part  scrollback.Part
		where string // live or folded; empty for both
	}{
		`look \{`: {part: call("look"), where: "live"}, " ": {part: call("look")},
		"u00a0b": {part: call("a\u00a0b")}, "x7fb": {part: call("a\x7fb")},
		"x01b": {part: call("a\x01b")}, "\u2028": {part: say("a\u2028b")}, "\u2029": {part: say("a\u2029")},
		"\ufffd": {part: say("a\xff")}, "a\tb": {part: say("a\tb")}, `say "no`: {part: say(`say "no"`)},
		"\u212a": {part: say("k")}, "k": {part: say("\u212a")},
		"call.*id c1": {part: call("look"), where: "folded"},
		"tool ca":     {part: call("look"), where: "folded"},
		"look · id":   {part: call("look"), where: "folded"},
		"````":        {part: scrollback.ToolResult{Text: "```"}, where: "folded"},
		"reasoning":   {part: scrollback.Reasoning{Text: "x"}, where: "folded"},
		"artifact:ab": {part: scrollback.File{Artifact: "ab", Name: "n"}},
		"<b>":         {part: say("a <b>")},
		"· error":     {part: scrollback.ToolResult{Name: "n", IsError: true}, where: "folded"},
	} {
		l := newLog(t, pattern == "<b>", scrollback.Parts{c.part}, scrollback.Say("else"))
		for _, folded := range []bool{false, true} {
			if c.where == map[bool]string{true: "live", false: "folded"}[folded] {
				continue
			}
			got := l.grepped(t, New(l, bucket, nil), scrollback.GrepQuery{Pattern: pattern},
				struct{ folded, sieve bool }{folded, true})
			want := l.grepped(t, New(l, bucket, nil), scrollback.GrepQuery{Pattern: pattern},
				struct{ folded, sieve bool }{folded, false})
			if got.Total == 0 || got.Total != want.Total {
				t.Errorf("%q, folded %v: %d lines, want %d", pattern, folded, got.Total, want.Total)
			}
		}
	}
}

// What cannot match is not read: of texts, calls and results, live or folded.
func TestTheSieveHoldsBack(t *testing.T) {
	var all []scrollback.Parts
	for i := range 40 {
		all = append(all, scrollback.Say(fmt.Sprintf("Line %d says \"nothing\" of it.\n\tNor here, 中文: \u2028\x1b", i)),
			scrollback.Parts{scrollback.ToolCall{ID: fmt.Sprint("c", i), Name: "look",
				Arguments: json.RawMessage(`{"at": "the\nkey"}`)}},
			scrollback.Parts{scrollback.ToolResult{CallID: fmt.Sprint("c", i), Name: "look", Text: "a\nb"},
				scrollback.Reasoning{Text: "hm"}})
	}
	all = append(all, scrollback.Say("The Needle in it"))
	l := newLog(t, false, all...)
	bucket := blob.NewMemory()
	defer func() { _ = bucket.Close() }()
	for _, pattern := range []string{"needle", "the needle", "x?(needle|nadel)", "NEEDLE.*it", `"?needle`, `\bneedle\b`,
		"n[e]edle i"} {
		for _, folded := range []bool{false, true} {
			l.read = 0
			got := l.grepped(t, New(l, bucket, nil), scrollback.GrepQuery{Pattern: pattern},
				struct{ folded, sieve bool }{folded, true})
			if got.Total != 1 || l.read != 1 {
				t.Errorf("%q, folded %v: %d lines of %d messages", pattern, folded, got.Total, l.read)
			}
		}
	}
}
