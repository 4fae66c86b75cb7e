package fullcopy_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/filltest"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/fullcopy"
)

var update = flag.Bool("update", false, "write golden files")

// loaded is what a file comes to: the path it ends with, all that was said, and its bad
// lines.
type loaded struct {
	conversation *scrollback.Conversation
	path, all    []transcript.Entry
	bad          []transcript.Bad
}

func load(t interface{ Fatalf(string, ...any) }, r io.Reader) loaded {
	var out loaded
	for e, err := range (fullcopy.Format{}).Read(r) {
		switch {
		case err != nil:
			t.Fatalf("read: %v", err)
		case e.Bad != nil:
			out.bad = append(out.bad, *e.Bad)
		case e.Conversation != nil:
			out.conversation = e.Conversation
		case e.Rewind != nil:
			if *e.Rewind < 0 || *e.Rewind >= len(out.path) {
				t.Fatalf("it goes back to %d of %d messages", *e.Rewind, len(out.path))
			}
			out.path = out.path[:*e.Rewind:*e.Rewind]
		default:
			out.path = append(out.path, e)
			out.all = append(out.all, e)
		}
	}
	return out
}

func none[T any]() iter.Seq2[T, error] { return func(func(T, error) bool) {} }

func one[T any](v T) iter.Seq2[T, error] { return func(yield func(T, error) bool) { yield(v, nil) } }

func says(path []transcript.Entry) string {
	var out []string
	for _, e := range path {
		out = append(out, e.Message.Parts.Text())
	}
	return strings.Join(out, " ")
}

// write writes a copy of a conversation with two branches, a file and a draft.
func write(t *testing.T) string {
	t.Helper()
	const id = "0192f0a0-0000-7000-8000-000000000001"
	branches := []scrollback.Branch{{ID: "trunk", HeadSeq: 3}, {ID: "side", Parent: "trunk", AtSeq: 1, HeadSeq: 2}}
	var out bytes.Buffer
	w := fullcopy.NewWriter(&out)
	c := scrollback.Conversation{ID: id, Project: "default", Title: "Keys & <locks> 钥匙", Branch: "trunk", Messages: 3,
		CreatedAt: 1763700000000, Settings: scrollback.Settings{Tools: []scrollback.Tool{{Name: "look"}}}}
	if err := w.Begin(1763700009000, c, []scrollback.BranchEntry{{ID: "trunk", HeadSeq: 3, Messages: 3, Current: true},
		{ID: "side", Parent: "trunk", AtSeq: 1, HeadSeq: 2, Messages: 1}}); err != nil {
		t.Fatal(err)
	}
	said := map[scrollback.BranchID]map[int64]scrollback.Message{
		"trunk": {1: {Role: scrollback.RoleUser, Parts: scrollback.Parts{scrollback.Text{Text: "where <is> it?"},
			scrollback.File{Artifact: "abc", MediaType: "text/plain", Name: "n.txt", Size: 5}}},
			2: {Role: scrollback.RoleAssistant, Parts: scrollback.Parts{
				scrollback.ToolCall{ID: "c1", Name: "look", Arguments: []byte(`{"at": 1}`)}}},
			3: {Role: scrollback.RoleTool, Parts: scrollback.Parts{
				scrollback.ToolResult{CallID: "c1", Name: "look", Text: "all of it", Artifact: "def"}}}},
		"side": {2: {Role: scrollback.RoleAssistant, Parts: scrollback.Parts{scrollback.Text{Text: "elsewhere"}}, Model: "m",
			Usage: &scrollback.Usage{InputTokens: 3}, Meta: []byte(`{"a": "<b>"}`)}},
	}
	for _, p := range fullcopy.Pieces(branches, "trunk") {
		for seq := p.From; seq <= p.To; seq++ {
			m := said[p.Branch][seq]
			m.ID = scrollback.MessageID(fmt.Sprint(p.Branch, seq))
			m.ConversationID = id
			m.Branch = p.Branch
			m.Seq = seq
			m.Status = scrollback.StatusComplete
			m.CreatedAt = 1763700000000 + seq
			var failed []scrollback.TurnEntry
			if m.Branch == "side" {
				failed = []scrollback.TurnEntry{{TurnID: "t9", AfterSeq: 2, State: scrollback.TurnFailed}}
			}
			err := w.Message(m, failed, func(i int) (io.ReadCloser, error) {
				if f, ok := m.Parts[i].(scrollback.File); ok && f.Name == "n.txt" {
					return io.NopCloser(strings.NewReader("bytes")), nil
				}
				return nil, nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	draft := scrollback.Message{ID: "t10", TurnID: "t10", Role: scrollback.RoleAssistant, Parts: scrollback.Say("half an"),
		Status: scrollback.StatusInterrupted}
	if err := w.Message(draft, nil, func(int) (io.ReadCloser, error) { return nil, nil }); err != nil {
		t.Fatal(err)
	}
	receipt := scrollback.Receipt{Result: scrollback.ResultCompacted, Segments: []scrollback.SegmentID{"s"},
		Refs: []scrollback.Ref{"history:s"}}
	err := w.End(one(receipt), one(scrollback.RefEntry{Ref: "history:s", Kind: scrollback.RefHistory, Conversation: id,
		FirstSeq: 1, LastSeq: 2}))
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestGolden(t *testing.T) {
	const golden = "testdata/archive.json"
	got := write(t)
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Fatal(d)
	}
	if !(fullcopy.Format{}).Sniff(want) || !(fullcopy.Format{}).Sniff(want[:200]) {
		t.Error("not recognized")
	}
	for _, r := range []io.Reader{bytes.NewReader(want), iotest.OneByteReader(bytes.NewReader(want))} {
		out := load(t, r)
		c := out.conversation
		if c == nil || c.Title != "Keys & <locks> 钥匙" || len(c.Settings.Tools) != 1 || len(out.bad) > 0 ||
			len(out.all) != 5 ||
			len(out.path) != 4 {
			t.Fatalf("%+v, bad %v, %d messages, %d on the path", c, out.bad, len(out.all), len(out.path))
		}
		result, ok := out.path[2].Message.Parts[0].(scrollback.ToolResult)
		if string(out.path[0].Bytes[1]) != "bytes" || says(out.path[3:]) != "half an" || !ok || result.Text != "all of it" ||
			result.Artifact != "" {
			t.Errorf("the path is %+v", out.path)
		}
		side := out.all[1]
		if says(out.all[1:2]) != "elsewhere" || side.Line != 6 || side.Message.Usage == nil ||
			string(side.Message.Meta) != `{"a":"<b>"}` {
			t.Errorf("the other branch is %+v (meta %s)", side, side.Message.Meta)
		}
	}
}

// A tree of branches, whatever its shape, is told with each message once, and ends on the
// path of the current branch.
func TestPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inherited := rapid.Int64Range(0, 3).Draw(t, "inherited")
		var all []scrollback.Branch
		paths := map[scrollback.BranchID][]string{"": {}}
		for seq := range inherited {
			paths[""] = append(paths[""], fmt.Sprint("x", seq+1))
		}
		for i := range rapid.IntRange(1, 8).Draw(t, "branches") {
			parent := scrollback.BranchID("")
			at := inherited
			if i > 0 {
				of := rapid.SampledFrom(append(slices.Clone(all), scrollback.Branch{HeadSeq: inherited})).Draw(t, "parent")
				parent = of.ID
				at = rapid.Int64Range(of.AtSeq, of.HeadSeq).Draw(t, "at")
			}
			id := scrollback.BranchID(fmt.Sprint("b", i))
			path := slices.Clone(paths[parent][:at])
			for n := range rapid.Int64Range(0, 3).Draw(t, "own") {
				path = append(path, fmt.Sprint(id, at+n+1))
			}
			paths[id] = path
			stored := parent
			if parent == "" && inherited > 0 {
				stored = "elsewhere"
			}
			all = append(all, scrollback.Branch{ID: id, Parent: stored, AtSeq: at, HeadSeq: int64(len(path))})
		}
		current := rapid.SampledFrom(all).Draw(t, "current")
		shown := slices.DeleteFunc(slices.Clone(all), func(b scrollback.Branch) bool {
			isParent := slices.ContainsFunc(all, func(c scrollback.Branch) bool { return c.Parent == b.ID })
			return b.HeadSeq == b.AtSeq && b.ID != current.ID && !isParent
		})
		var out bytes.Buffer
		w := fullcopy.NewWriter(&out)
		if err := w.Begin(1, scrollback.Conversation{ID: "c", Messages: current.HeadSeq}, nil); err != nil {
			t.Fatal(err)
		}
		for _, p := range fullcopy.Pieces(shown, current.ID) {
			for seq := p.From; seq <= p.To; seq++ {
				m := scrollback.Message{Role: scrollback.RoleUser, Seq: seq, Parts: scrollback.Say(paths[p.Branch][seq-1])}
				if err := w.Message(m, nil, func(int) (io.ReadCloser, error) { return nil, nil }); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := w.End(none[scrollback.Receipt](), none[scrollback.RefEntry]()); err != nil {
			t.Fatal(err)
		}
		got := load(t, &out)
		if says(got.path) != strings.Join(paths[current.ID], " ") {
			t.Fatalf("the path is %q, not %q", says(got.path), strings.Join(paths[current.ID], " "))
		}
		told := map[string]int{}
		want := map[string]bool{}
		for _, e := range got.all {
			told[e.Message.Parts.Text()]++
		}
		for _, b := range shown {
			for _, m := range paths[b.ID] {
				want[m] = true
			}
		}
		for m, n := range told {
			if n != 1 || !want[m] {
				t.Fatalf("%s is told %d times", m, n)
			}
		}
		if len(told) != len(want) {
			t.Fatalf("told %d messages of %d", len(told), len(want))
		}
	})
}

// What is too new, cut off or broken is said, with its line; the rest counts.
func TestBadCopies(t *testing.T) {
	whole := write(t)
	cut := whole[:strings.Index(whole, "all of it")]
	if out := load(t, strings.NewReader(cut)); len(out.all) != 3 || len(out.bad) != 1 ||
		out.bad[0].Reason != "the file ends early: the messages after #2 are missing, up to #3" {
		t.Errorf("cut off: %d messages, bad %v", len(out.all), out.bad)
	}
	for before, want := range map[string]string{
		`"messages":[`: "the file ends early: its messages are missing",
		`"receipts":[`: "the file ends early: all messages are there, and the compactions behind them are missing",
		`"refs":[`:     "the file ends early: all messages are there, and the compactions behind them are missing",
	} {
		out := load(t, strings.NewReader(whole[:strings.Index(whole, before)]))
		if len(out.bad) != 1 || out.bad[0].Reason != want {
			t.Errorf("cut off before %s: bad %v", before, out.bad)
		}
	}
	torn := strings.Replace(whole, `"role":"tool"`, `"role":"to`, 1)
	if out := load(t, strings.NewReader(torn)); len(out.all) != 4 || len(out.bad) == 0 {
		t.Errorf("torn in a message: %d messages, bad %v", len(out.all), out.bad)
	}
	newer := strings.Replace(whole, `"version":1`, `"version":2`, 1)
	if out := load(t, strings.NewReader(newer)); len(out.all) != 0 || len(out.bad) != 1 ||
		!strings.Contains(out.bad[0].Reason, "version 2") {
		t.Errorf("of a newer version: %+v", out)
	}
	broken := strings.Replace(whole, `"role":"tool"`, `"role":"robot"`, 1)
	if out := load(t, strings.NewReader(broken)); len(out.all) != 4 || len(out.bad) != 1 || out.bad[0].Line != 8 {
		t.Errorf("a message of no role: %d messages, bad %v", len(out.all), out.bad)
	}
}

// A file that is cut between its messages and what requests leave out says so; one that has them in
// this order, and whole, leaves them out.
func TestLeftOutBehindMessages(t *testing.T) {
	const text = `{"archive":{"format":"scrollback","version":1},"conversation":{"id":"x","messages":2},"messages":[` +
		`{"seq":1,"role":"user","branch":"b","parts":[{"type":"text","text":"one"}]},` +
		`{"seq":2,"role":"assistant","branch":"b","parts":[{"type":"text","text":"two"}]}],"branches":[`
	read := func(text string) (without []int, bad []string) {
		for e, err := range (fullcopy.Format{}).Read(strings.NewReader(text)) {
			switch {
			case err != nil:
				t.Fatal(err)
			case e.Bad != nil:
				bad = append(bad, e.Bad.Reason)
			case e.Without != nil:
				without = *e.Without
			}
		}
		return without, bad
	}
	without, bad := read(text + `{"id":"b","head_seq":2,"current":true,"without":[1]}]}`)
	if !slices.Equal(without, []int{1}) || len(bad) > 0 {
		t.Errorf("whole: without %v, bad %q", without, bad)
	}
	_, bad = read(text)
	if len(bad) != 1 ||
		bad[0] != "the file ends early: its branches are missing, and with them which messages requests leave out" {
		t.Errorf("cut: %q", bad)
	}
}

// Whatever a file holds, it is read to its end, and goes back only to what it has said.
func FuzzRead(f *testing.F) {
	b, err := os.ReadFile("testdata/archive.json")
	if err != nil {
		f.Fatal(err)
	}
	const user = `{"role":"user",`
	for _, s := range []string{string(b), "", "{", `{"archive":{"format":"scrollback","version":1},"messages":[]}`,
		`{"messages":7}`,
		`{"messages":[` + user + `"seq":2,"parts":"x"},` + user + `"seq":1,"parts":"y"},` + user + `"parts":[]},` + user +
			`"seq":2}]}`,
		`{"conversation":{"id":"x","messages":1},"messages":[` + user + `"seq":9223372036854775807,"parts":"x"},` + user +
			`"parts":"y"}]}`,
		`{"conversation":7,"branches":7}`, `{"refs":[`,
		`{"messages":[` + user + `"seq":1,"parts":[{"type":"file","data":"?"}]}, 7, null]}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, file string) {
		_ = (fullcopy.Format{}).Sniff([]byte(file))
		out := load(t, strings.NewReader(file))
		for _, e := range out.all {
			if _, err := scrollback.ParseRole(string(e.Message.Role)); err != nil || e.Message.Seq != 0 {
				t.Fatalf("%+v", e)
			}
			if _, err := transcript.ImportMark(e); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// What is read from a copy has every field that was written but those below, also one that is new.
func TestCarries(t *testing.T) {
	const (
		decided = "the store decides it for each conversation"
		inside  = "it stays inside the store, and is in no copy"
		there   = "it was so where the copy was made"
	)
	f := &filltest.Filler{}
	c := filltest.Filled[scrollback.Conversation](f)
	m := filltest.Filled[scrollback.Message](f)
	m.Role = scrollback.RoleAssistant
	m.Status = scrollback.StatusComplete
	m.Branch = c.Branch
	var out bytes.Buffer
	w := fullcopy.NewWriter(&out)
	if err := w.Begin(1, c, nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Message(m, nil, func(int) (io.ReadCloser, error) { return nil, nil }); err != nil {
		t.Fatal(err)
	}
	if err := w.End(one(scrollback.Receipt{}), one(scrollback.RefEntry{})); err != nil {
		t.Fatal(err)
	}
	got := load(t, &out)
	if got.conversation == nil || len(got.all) != 1 {
		t.Fatalf("read %+v", got)
	}
	for _, wrong := range filltest.Carried(c, *got.conversation, map[string]string{
		"ID": "it is the entry's Source", "Version": decided, "Branch": decided, "Messages": decided, "CreatedAt": decided,
		"UpdatedAt": decided, "PinnedSeqs": decided, "Parent": there, "AgentOf": there, "DeletedAt": there, "Limit": there,
		"Roots": there, "Ancestors": inside, "PurgedAt": inside, "TitleBy": inside, "Environment": inside,
	}) {
		t.Error("conversation: " + wrong)
	}
	for _, wrong := range filltest.Carried(m, got.all[0].Message, map[string]string{
		"ConversationID": decided, "Branch": decided, "Seq": "the order tells it", "TurnID": decided, "Tokens": decided,
		"Weight": inside, "Sum": inside,
	}) {
		t.Error("message: " + wrong)
	}
}
