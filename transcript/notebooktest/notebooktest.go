// Package notebooktest is what the notebooks of every format have to pass.
//
// Words it adds: kind (a format with its reader and writer).
package notebooktest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/cell"
)

// Kind is a format of notebooks.
type Kind struct {
	transcript.Importer
	transcript.Exporter
	Open func([]byte) (transcript.Notebook, error)
	New  func(transcript.Tie) transcript.Notebook
	List string // the name of the list of cells
}

// Run runs the suite.
func Run(t *testing.T, k Kind) {
	t.Run("InteractionComesBack", func(t *testing.T) { interactionComesBack(t, k) })
	t.Run("UnchangedMessagesStay", func(t *testing.T) { unchangedMessagesStay(t, k) })
	t.Run("UnreadableStays", func(t *testing.T) { unreadableStays(t, k) })
	t.Run("ConversationComesBack", func(t *testing.T) { conversationComesBack(t, k) })
	t.Run("ExportIsBounded", func(t *testing.T) { exportIsBounded(t, k) })
	t.Run("OwnMessage", func(t *testing.T) { ownMessage(t, k) })
	t.Run("Tie", func(t *testing.T) { testTie(t, k) })
	t.Run("EditedElsewhere", func(t *testing.T) { editedElsewhere(t, k) })
	t.Run("Linear", func(t *testing.T) { testLinear(t, k) })
	t.Run("Bounds", func(t *testing.T) { testBounds(t, k) })
}

// PNG is an image of one pixel, as far as its header says.
var PNG = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00\x90wS\xde")

func newMessage(role scrollback.Role, ps ...scrollback.Part) transcript.Entry {
	return transcript.Entry{Message: scrollback.Message{Role: role, Parts: ps}}
}

// FullInteraction returns an interaction in which everything occurs that one can hold.
func FullInteraction() []transcript.Entry {
	call := func(id, args string) scrollback.ToolCall {
		return scrollback.ToolCall{ID: id, Name: "read_" + id, Arguments: json.RawMessage(args)}
	}
	first := newMessage("assistant", scrollback.Reasoning{Text: "想一想 <b>"},
		scrollback.Text{Text: "one\r\n二 \u2028 ![x](data:x)"}, call("a", `{"p":1}`),
		call("b", `{"q":[1.50,"<"]}`))
	first.Message.ID = "m1"
	first.Message.Model = "offline/lite"
	first.Message.CreatedAt = 1790000000000
	first.Message.Usage = &scrollback.Usage{InputTokens: 12, OutputTokens: 3, TotalTokens: 15}
	results := newMessage("tool", scrollback.ToolResult{CallID: "a", Name: "read_a", Text: "R"},
		scrollback.ToolResult{CallID: "b", Name: "read_b", Text: "", IsError: true},
		scrollback.Image{MediaType: "image/png", Name: "plot"})
	results.Bytes = map[int][]byte{2: PNG}
	odd := newMessage("assistant", scrollback.ToolCall{ID: "c", Name: "n", Arguments: json.RawMessage(`"no JSON"`),
		Opaque: json.RawMessage(`{"sig":"x"}`)},
		scrollback.Text{Text: "behind the call"}, scrollback.Reasoning{Text: "later", Opaque: json.RawMessage(`[1]`)})
	recall := newMessage("tool", scrollback.ToolResult{CallID: "c", Name: "n", Text: "found", Recall: true})
	pictured := newMessage("assistant", scrollback.Text{Text: "see"}, scrollback.Image{MediaType: "image/png"},
		scrollback.File{MediaType: "application/pdf", Name: "a.pdf"})
	pictured.Bytes = map[int][]byte{1: PNG, 2: []byte("%PDF-1.7")}
	empty := newMessage("assistant")
	cut := newMessage("assistant", scrollback.Text{Text: "half an ans"})
	cut.Message.Status = scrollback.StatusInterrupted
	cut.Message.Meta = json.RawMessage(`{"k":[1,{"z":null}]}`)
	return []transcript.Entry{first, results, odd, recall, pictured, empty, cut}
}

func wantSame(t *testing.T, what string, got, want []transcript.Entry) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d messages, want %d", what, len(got), len(want))
	}
	for i := range want {
		if !cell.IsSame(got[i], want[i]) {
			a, _ := transcript.EncodeParts(got[i])
			b, _ := transcript.EncodeParts(want[i])
			t.Errorf("%s: message %d is\n%+v\n%s\nwant\n%+v\n%s", what, i, got[i].Message, a, want[i].Message, b)
		}
	}
}

func reopenNotebook(t *testing.T, k Kind, n transcript.Notebook) transcript.Notebook {
	t.Helper()
	b := n.Bytes()
	again, err := k.Open(b)
	if err != nil {
		t.Fatalf("%v in\n%s", err, b)
	}
	if !bytes.Equal(again.Bytes(), b) {
		t.Fatalf("opened, it is written as\n%s\nnot\n%s", again.Bytes(), b)
	}
	return again
}

func mustFor[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// What is set is read again, as far as it came: after each message, and when it is less.
func interactionComesBack(t *testing.T, k Kind) {
	n := k.New(transcript.Tie{})
	for _, c := range []transcript.Cell{{Role: "system", Text: "be brief"}, {Text: "ask\nme"},
		{Role: "user", Text: "last", Stale: true}} {
		mustFor[int](t)(n.Append(c))
	}
	said := FullInteraction()
	for i := range said {
		if err := n.SetInteraction(1, said[:i+1]); err != nil {
			t.Fatal(err)
		}
		n = reopenNotebook(t, k, n)
		wantSame(t, fmt.Sprint("after ", i+1), n.Cells()[1].Interaction, said[:i+1])
	}
	for _, stale := range []bool{true, true, false} {
		if err := n.SetStale(1, stale); err != nil || n.Cells()[1].Stale != stale {
			t.Fatal(stale, err)
		}
	}
	if err := n.SetInteraction(1, said[:1]); err != nil {
		t.Fatal(err)
	}
	cells := reopenNotebook(t, k, n).Cells()
	wantSame(t, "less", cells[1].Interaction, said[:1])
	if len(cells) != 3 || cells[0].Role != scrollback.RoleSystem || !cells[0].Markup || cells[0].Text != "be brief" ||
		cells[1].Text != "ask\nme" ||
		cells[1].Role != scrollback.RoleUser || !cells[2].Stale || len(cells[2].Interaction) != 0 {
		t.Errorf("%+v", cells)
	}
	before := n.Bytes()
	for _, err := range []error{n.SetInteraction(3, said), n.SetInteraction(-1, said), n.SetStale(3, true)} {
		if scrollback.CodeOf(err) != scrollback.NotFound {
			t.Error(err)
		}
	}
	if err := n.SetInteraction(1, []transcript.Entry{newMessage("assistant"),
		newMessage("user")}); scrollback.CodeOf(err) != scrollback.Invalid {
		t.Error(err)
	}
	if !bytes.Equal(before, n.Bytes()) {
		t.Error("what is refused changed the file")
	}
}

// The same interaction again changes nothing, and a longer one only adds.
func unchangedMessagesStay(t *testing.T, k Kind) {
	n := k.New(transcript.Tie{})
	mustFor[int](t)(n.Append(transcript.Cell{Text: "q", Interaction: FullInteraction()[:1]}))
	spelt := bytes.Replace(n.Bytes(), []byte(`"role": "assistant"`), []byte(`"strange":  1e0, "role":"assistant"`), 1)
	n = mustFor[transcript.Notebook](t)(k.Open(spelt))
	if err := n.SetInteraction(0, n.Cells()[0].Interaction); err != nil || !bytes.Equal(n.Bytes(), spelt) {
		t.Fatalf("%v:\n%s", err, n.Bytes())
	}
	if err := n.SetInteraction(0, append(n.Cells()[0].Interaction, FullInteraction()[1:]...)); err != nil ||
		!bytes.Contains(n.Bytes(), []byte(`"strange":  1e0, `)) {
		t.Errorf("%v:\n%s", err, n.Bytes())
	}
	wantSame(t, "longer", reopenNotebook(t, k, n).Cells()[0].Interaction, FullInteraction())
}

// What cannot be read in an interaction stays behind what is said now.
func unreadableStays(t *testing.T, k Kind) {
	n := k.New(transcript.Tie{})
	mustFor[int](t)(n.Append(transcript.Cell{Text: "q", Interaction: FullInteraction()[4:]}))
	file := bytes.Replace(n.Bytes(), []byte("\"role\": \"assistant\","), []byte("\"role\":  \"developer\","), 1)
	n = mustFor[transcript.Notebook](t)(k.Open(file))
	left := n.Cells()[0].Interaction
	if err := n.SetInteraction(0, left); err != nil || len(left) != 2 || !bytes.Equal(n.Bytes(), file) {
		t.Fatalf("%v: %+v in\n%s", err, left, n.Bytes())
	}
	for range 2 {
		if err := n.SetInteraction(0, FullInteraction()); err != nil {
			t.Fatal(err)
		}
		n = reopenNotebook(t, k, n)
		wantSame(t, "said", n.Cells()[0].Interaction, FullInteraction())
		if bytes.Count(n.Bytes(), []byte("\"role\":  \"developer\"")) != 1 {
			t.Errorf("%s", n.Bytes())
		}
	}
	if _, _, bad := ReadFile(t, k.Importer, n.Bytes()); len(bad) != 1 || !strings.Contains(bad[0].Reason, "developer") {
		t.Errorf("bad %+v", bad)
	}
}

// FullConversation returns one in which everything occurs.
func FullConversation() []transcript.Entry {
	user := newMessage("user", scrollback.Text{Text: "look ![图](file:///x.png) at"},
		scrollback.Image{MediaType: "image/png", Name: "a [1].png", Detail: "low"},
		scrollback.Text{Text: "and"}, scrollback.Text{Text: "this"}, scrollback.Image{MediaType: "image/jpeg"})
	user.Bytes = map[int][]byte{1: PNG, 4: []byte("\xff\xd8\xff")}
	user.Message.CreatedAt = 1790000000001
	referring := newMessage("user", scrollback.Text{Text: "read @[a.go:1:2] and @[b]"},
		scrollback.Text{Text: "[file a.go:1:2, version 2]\n```go\npackage a\n```",
			Reference: &scrollback.Reference{Mark: "a.go:1:2", Source: "ws/a.go:1:2",
				Kind: scrollback.ReferenceFile, Version: 2, Language: "go", SHA256: strings.Repeat("ab", 32), Bytes: 9}},
		scrollback.Text{Text: "[folder b: unchanged since version 1, see message #3]",
			Reference: &scrollback.Reference{Mark: "b", Source: "ws/b",
				Kind: scrollback.ReferenceFolder, Version: 1, SameAs: 3}},
		scrollback.Text{Text: "[tool context_list{}]\nnothing",
			Reference: &scrollback.Reference{Mark: "context_list{}", Source: "context_list{}",
				Kind: scrollback.ReferenceTool, SHA256: "x", Bytes: 7}})
	refused := newMessage("user", scrollback.Text{Text: "@[/etc/passwd]"},
		scrollback.Text{Text: "[file /etc/passwd: refused: outside the roots]",
			Reference: &scrollback.Reference{Mark: "/etc/passwd", Source: "/etc/passwd", Kind: scrollback.ReferenceFile,
				Error: "refused: outside the roots"}})
	attached := newMessage("user", scrollback.File{Name: "a.pdf", MediaType: "application/pdf"},
		scrollback.Text{Text: "**System**: not really"})
	attached.Bytes = map[int][]byte{0: []byte("%PDF")}
	all := []transcript.Entry{newMessage("assistant", scrollback.Text{Text: "hello"}), FullInteraction()[0],
		newMessage("system", scrollback.Text{Text: "S\n<b>"}), user}
	all = append(all, FullInteraction()...)
	all = append(all, referring, newMessage("assistant", scrollback.Text{Text: "read"}), refused, attached,
		newMessage("system", scrollback.Text{Text: "**System**: S"}),
		newMessage("assistant", scrollback.Text{Text: "orphan"}),
		newMessage("user", scrollback.Text{Text: "<content_reference> is a word of its own"}))
	return all
}

func entrySeq(list []transcript.Entry) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		for _, e := range list {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// ReadFile reads a file to its end.
func ReadFile(t testing.TB, f transcript.Importer,
	file []byte) (c scrollback.Conversation, out []transcript.Entry, bad []transcript.Bad) {
	t.Helper()
	for e, err := range f.Read(bytes.NewReader(file)) {
		switch {
		case err != nil:
			t.Fatal(err)
		case e.Bad != nil:
			bad = append(bad, *e.Bad)
		case e.Conversation != nil:
			c = *e.Conversation
			c.ID = scrollback.ConversationID(e.Source)
		default:
			out = append(out, e)
		}
	}
	return c, out, bad
}

// A conversation that is written is read again as it was, and written again as it was.
func conversationComesBack(t *testing.T, k Kind) {
	c := scrollback.Conversation{ID: "01a203ef-b268-71c8-91f7-8f5707fe2645", Title: "钥匙 & keys", Model: "offline/lite",
		Instructions: "Be <brief>.",
		Meta:         json.RawMessage(`{"a":{"b":1}}`)}
	var out bytes.Buffer
	if err := k.Write(&out, c, entrySeq(FullConversation())); err != nil {
		t.Fatal(err)
	}
	if !k.Sniff(out.Bytes()[:min(out.Len(), 4096)]) {
		t.Error("it is not recognised")
	}
	got, entries, bad := ReadFile(t, k.Importer, out.Bytes())
	if len(bad) > 0 || got.ID != c.ID || got.Title != c.Title || got.Model != c.Model ||
		got.Instructions != c.Instructions || string(got.Meta) != string(c.Meta) {
		t.Errorf("%+v, bad %v", got, bad)
	}
	wantSame(t, "read", entries, FullConversation())
	for i, e := range entries {
		if e.Line == 0 || i > 0 && e.Line < entries[i-1].Line {
			t.Errorf("message %d is on line %d", i, e.Line)
		}
	}
	var again bytes.Buffer
	if err := k.Write(&again, c, entrySeq(entries)); err != nil || again.String() != out.String() {
		t.Errorf("%v: written again, it is\n%s\nnot\n%s", err, again.String(), out.String())
	}
	n := mustFor[transcript.Notebook](t)(k.Open(out.Bytes()))
	var said []transcript.Entry
	for _, c := range n.Cells() {
		said = append(said, c.Interaction...)
		if slices.ContainsFunc(c.Interaction, func(e transcript.Entry) bool { return e.Bad != nil }) {
			t.Error("a cell has what cannot be read")
		}
	}
	if len(said) == 0 {
		t.Errorf("%d messages of interactions", len(said))
	}
}

// An export holds one cell at a time, however many there are, and refuses one without bounds.
func exportIsBounded(t *testing.T, k Kind) {
	text := strings.Repeat("a message of some length; ", 40)
	held := func(messages int) (heap int64) {
		entries := func(yield func(transcript.Entry, error) bool) {
			for i := range messages {
				e := transcript.Entry{Message: scrollback.Message{Role: scrollback.RoleUser, Seq: int64(i + 1),
					Parts: scrollback.Say(text)}}
				if i%2 == 1 {
					e.Message.Role = scrollback.RoleAssistant
				}
				if !yield(e, nil) {
					t.Error("the export ended early")
					return
				}
			}
			runtime.GC()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			heap = int64(m.HeapAlloc)
		}
		if err := k.Write(io.Discard, scrollback.Conversation{}, entries); err != nil {
			t.Fatal(err)
		}
		return heap
	}
	few := held(100)
	many := held(10_000)
	if grown := many - few; grown > 3<<20 {
		t.Errorf("for 10,000 messages of %d bytes, %d bytes more are held than for 100", len(text), grown)
	}
	long := strings.Repeat("x", 8<<20)
	err := k.Write(io.Discard, scrollback.Conversation{}, func(yield func(transcript.Entry, error) bool) {
		for yield(transcript.Entry{Message: scrollback.Message{Role: scrollback.RoleAssistant, Parts: scrollback.Say(long)}},
			nil) {
		}
	})
	if !errors.Is(err, scrollback.ErrTooLarge) {
		t.Errorf("a cell without an end: %v", err)
	}
}

// What a cell's own message brought is kept with the cell when it is run.
func ownMessage(t *testing.T, k Kind) {
	n := k.New(transcript.Tie{})
	all := FullConversation()
	own := all[slices.IndexFunc(all, func(e transcript.Entry) bool { return len(e.Message.Parts.References()) == 3 })]
	own.Message.ID = "u1"
	own.Message.CreatedAt = 5
	mustFor[int](t)(n.Append(transcript.Cell{Text: own.Message.Parts.Text()}))
	if err := n.SetInteraction(0, append([]transcript.Entry{own}, FullInteraction()[0])); err != nil {
		t.Fatal(err)
	}
	n = reopenNotebook(t, k, n)
	wantSame(t, "interaction", n.Cells()[0].Interaction, FullInteraction()[:1])
	wantSame(t, "references", []transcript.Entry{cell.CellParts(n.Cells()[0])},
		[]transcript.Entry{newMessage("user", own.Message.Parts...)})
	_, entries, _ := ReadFile(t, k.Importer, n.Bytes())
	wantSame(t, "import", entries, []transcript.Entry{own, FullInteraction()[0]})
	if entries[0].Message.ID != "u1" {
		t.Errorf("%+v", entries[0].Message)
	}
	if !bytes.Contains(n.Bytes(), []byte(`"content": "package a"`)) ||
		!bytes.Contains(n.Bytes(), []byte(`"argsText": "{}"`)) {
		t.Errorf("no block for others:\n%s", n.Bytes())
	}
	own.Message.Parts = own.Message.Parts[:1]
	if err := n.SetInteraction(0, []transcript.Entry{own}); err != nil || len(n.Cells()[0].References) > 0 ||
		bytes.Contains(n.Bytes(), []byte("ghost")) {
		t.Errorf("%v: run again without references, it has\n%s", err, n.Bytes())
	}
}

func testTie(t *testing.T, k Kind) {
	was := transcript.Tie{ID: "any id/..", Conversation: "c1", Title: "T <1>", Model: "offline/lite", Instructions: "I",
		Roots:   []string{"file:///ws"},
		AgentOf: "p", Agents: []string{"a1"}}
	n := reopenNotebook(t, k, k.New(was))
	check := func(want transcript.Tie) {
		t.Helper()
		got := reopenNotebook(t, k, n).Tie()
		got.Meta = nil
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	check(was)
	before := n.Bytes()
	if err := n.SetTie(was); err != nil || !bytes.Equal(before, n.Bytes()) {
		t.Errorf("%v: the same again changed it", err)
	}
	was.Conversation = "c2"
	was.Title = "другой"
	was.Agents = []string{"a1", "a2"}
	if err := n.SetTie(was); err != nil {
		t.Fatal(err)
	}
	check(was)
	was.Conversation = ""
	if err := n.SetTie(was); err != nil {
		t.Fatal(err)
	}
	check(was)
}

// A note counts while its message is the one that it was written for.
func editedElsewhere(t *testing.T, k Kind) {
	n := k.New(transcript.Tie{})
	said := FullInteraction()[4:5]
	mustFor[int](t)(n.Append(transcript.Cell{Text: "q", Interaction: said}))
	mark := []byte(`"text": "see"`)
	file := n.Bytes()
	saw := 0
	for _, at := range []int{bytes.Index(file, mark), bytes.LastIndex(file, mark)} { // in the message, and in its note
		edited := slices.Concat(file[:at], []byte(`"text": "saw"`), file[at+len(mark):])
		said := mustFor[transcript.Notebook](t)(k.Open(edited)).Cells()[0].Interaction
		if len(said) != 1 || !strings.HasSuffix(said[0].Message.Parts.Text(), "\n[a.pdf]") {
			t.Errorf("%+v", said)
		}
		if strings.HasPrefix(said[0].Message.Parts.Text(), "saw\n") {
			saw++
		}
	}
	if bytes.Count(file, mark) != 2 || saw != 1 {
		t.Errorf("what was said was edited %d times in\n%s", saw, file)
	}
}

// BigNotebook returns a notebook of many cells, each with a call, its result and an answer.
func BigNotebook(t testing.TB, k Kind, cells int) []byte {
	t.Helper()
	var list []transcript.Entry
	for i := range cells {
		list = append(list, newMessage("user", scrollback.Text{Text: fmt.Sprint("question ", i)}),
			newMessage("assistant", scrollback.ToolCall{ID: "c", Name: "read", Arguments: json.RawMessage(`{"p":1}`)}),
			newMessage("tool", scrollback.ToolResult{CallID: "c", Name: "read", Text: strings.Repeat("line\n", 20)}),
			newMessage("assistant", scrollback.Text{Text: fmt.Sprint("answer ", i)}))
	}
	var out bytes.Buffer
	if err := k.Write(&out, scrollback.Conversation{}, entrySeq(list)); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// ChangeCells opens a notebook, changes each cell, and returns what is written.
func ChangeCells(t testing.TB, k Kind, file []byte) []byte {
	t.Helper()
	n, err := k.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range n.Cells() {
		if err := n.SetInteraction(i, append(c.Interaction,
			newMessage("assistant", scrollback.Text{Text: "more"}))); err != nil {
			t.Fatal(err)
		}
		if err := n.SetStale(i, true); err != nil {
			t.Fatal(err)
		}
		if _, err := n.Append(transcript.Cell{Text: "new"}); err != nil {
			t.Fatal(err)
		}
	}
	return n.Bytes()
}

// Twice the cells take twice the memory, whatever is done to all of them.
func testLinear(t *testing.T, k Kind) {
	taken := func(cells int) float64 {
		file := BigNotebook(t, k, cells)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		ChangeCells(t, k, file)
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	small := taken(1000)
	big := taken(2000)
	if big > 2.3*small {
		t.Errorf("1,000 cells take %.0f bytes, 2,000 %.0f", small, big)
	}
	t.Logf("%.0f and %.0f bytes", small, big)
}

// What is too long or too deep is refused.
func testBounds(t *testing.T, k Kind) {
	for _, file := range []string{"", "{", "[]", "null", `{"` + k.List + `":{}}`, "\xff\xfe{\x00}\x00",
		strings.Repeat(`{"a":`, 1e6),
		`{"` + k.List + `":[` + strings.Repeat("[", 1e6),
		"{\"" + k.List + "\":[]}" + strings.Repeat(" ", transcript.MaxLine)} {
		if _, err := k.Open([]byte(file)); scrollback.CodeOf(err) != scrollback.Invalid {
			t.Errorf("%.40q: %v", file, err)
		}
		if _, entries, bad := ReadFile(t, k.Importer, []byte(file)); len(entries) > 0 || len(bad) != 1 || bad[0].Line != 1 {
			t.Errorf("%.40q: %d messages, bad %+v", file, len(entries), bad)
		}
	}
	deep := `{"` + k.List + `":[` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `]}`
	n, err := k.Open([]byte(deep))
	if err != nil || string(n.Bytes()) != deep || len(n.Cells()) != 0 {
		t.Errorf("deep: %v", err)
	}
}

// FuzzNotebook opens whatever there is: what can be opened is written as it was, and an interaction
// that is set is read again.
func FuzzNotebook(f *testing.F, k Kind, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		n, err := k.Open(bytes.Clone(file))
		if err != nil {
			if scrollback.CodeOf(err) != scrollback.Invalid {
				t.Fatal(err)
			}
			return
		}
		cells := n.Cells()
		for _, err := range k.Read(bytes.NewReader(file)) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(n.Bytes(), file) {
			t.Fatalf("written as\n%q\nnot\n%q", n.Bytes(), file)
		}
		said := FullInteraction()
		for i, c := range cells {
			if c.Role == scrollback.RoleSystem || i > 0 && i < len(cells)-1 {
				continue
			}
			if err := n.SetInteraction(i, said); err != nil {
				t.Fatal(err)
			}
			again, err := k.Open(n.Bytes())
			if err != nil {
				t.Fatalf("%v: %q became %q", err, file, n.Bytes())
			}
			now := again.Cells()
			if len(now) != len(cells) {
				t.Fatalf("%q became %q: %d cells", file, n.Bytes(), len(now))
			}
			wantSame(t, fmt.Sprint(i), now[i].Interaction, said)
			if c.Role == scrollback.RoleUser && now[i].Text != c.Text {
				t.Fatalf("the text %q became %q", c.Text, now[i].Text)
			}
		}
	})
}
