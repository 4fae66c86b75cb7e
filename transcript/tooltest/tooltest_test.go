package tooltest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// toy keeps a conversation as lines, each the JSON of a text. Eager, it reads the line
// that is still being written.
type toy struct {
	transcript.Tool
	eager bool
}

func (toy) Name() string { return "toy" }

func (toy) Sessions(_ context.Context, p transcript.Place) iter.Seq2[transcript.Session, error] {
	return func(yield func(transcript.Session, error) bool) {
		names, err := fs.Glob(p.FS, "*.toy")
		for _, name := range names {
			data, err := fs.ReadFile(p.FS, name)
			s := transcript.Session{ID: name, Name: name, Bytes: int64(len(data)), Stamp: fmt.Sprint(len(data)),
				Changed: written}
			if !yield(s, err) {
				return
			}
		}
		if err != nil {
			yield(transcript.Session{}, err)
		}
	}
}

func (tool toy) Read(_ context.Context, p transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		data, err := fs.ReadFile(p.FS, s.Name)
		if err != nil {
			yield(transcript.Entry{}, err)
			return
		}
		all := []transcript.Entry{{Source: s.ID, Conversation: &scrollback.Conversation{},
			Origin: &scrollback.Origin{ID: s.ID}}}
		end := transcript.End{}
		for i, line := range bytes.SplitAfter(data, []byte("\n")) {
			var text string
			if !tool.eager && p.IsLive(s) && !bytes.HasSuffix(line, []byte("\n")) {
				end.Held = len(line) > 0
				break
			}
			if len(line) == 0 {
				break
			}
			if tool.eager {
				text = strings.Trim(string(line), "\"\n")
			} else if json.Unmarshal(line, &text) != nil {
				all = append(all, transcript.Entry{Bad: &transcript.Bad{Line: i + 1, Reason: "not JSON"}})
				continue
			}
			if text != "" {
				m := scrollback.Message{Role: scrollback.RoleUser, Parts: scrollback.Say(text)}
				all = append(all, transcript.Entry{Line: i + 1, Source: s.ID, Message: m})
			}
		}
		for _, e := range append(all, transcript.Entry{Source: s.ID, End: &end}) {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func fixture() fstest.MapFS {
	return fstest.MapFS{"one.toy": {Data: []byte("\"a word\"\n\"another\"\n\"the last\"\n")},
		"two.toy": {Data: []byte("\"only\"\n")}}
}

func TestToy(t *testing.T) {
	bare := []string{"one.toy", "two.toy"}
	Run(t, Case{Tool: toy{}, FS: fixture(), NoIDs: bare, NoTimes: bare})
	Run(t, Case{Tool: toy{}, FS: fixture(), NoIDs: bare, NoTimes: bare, Disk: true, Mutants: 20})
}

// Ids and times that are nowhere are missed, unless the case says that the files have none.
func TestLostCanFail(t *testing.T) {
	v := loadVariant(t, Case{Tool: toy{}, FS: fixture(), Name: ".", NoIDs: []string{"one.toy"}})
	p, done := v.openPlace(t)
	defer done()
	lost := v.listLost(v.readPlace(p, false))
	if len(lost) != 3 || !strings.Contains(lost[0], "one.toy: 0 of 3 messages have a time") {
		t.Errorf("%q", lost)
	}
}

func TestScript(t *testing.T) {
	if got := strings.Join(ScriptLines(ReadEntries(t, toy{}, fixture())), "; "); got !=
		"one.toy:; user | a word; user | another; user | the last; end; two.toy:; user | only; end" {
		t.Error(got)
	}
}

// A tool that reads half a line says what the whole does not begin with.
func TestPrefixesCanFail(t *testing.T) {
	v := loadVariant(t, Case{Tool: toy{eager: true}, FS: fixture(), Name: "."})
	whole := v.pathTips(t, false)["one.toy"]
	for live, n := range map[string]int{"half a word": 4, "whole lines": 9} {
		tip := v.withFile("one.toy", fixture()["one.toy"].Data[:n]).pathTips(t, true)["one.toy"][0]
		if got := startsOne(tip, whole); got != (live == "whole lines") {
			t.Errorf("%s: %q begins %q: %v", live, tip, whole, got)
		}
	}
}

// Each fault is found.
func TestFaults(t *testing.T) {
	one := 1
	two := 2
	first := transcript.Entry{Source: "a", Conversation: &scrollback.Conversation{}, Origin: &scrollback.Origin{ID: "a"}}
	say := func(parts ...scrollback.Part) transcript.Entry {
		return transcript.Entry{Source: "a", Message: scrollback.Message{Role: scrollback.RoleAssistant, Parts: parts}}
	}
	hello := say(scrollback.Text{Text: "hello"})
	end := transcript.Entry{Source: "a", End: &transcript.End{}}
	call := say(scrollback.ToolCall{ID: "1", Name: "ls", Arguments: json.RawMessage(`{}`)})
	done := say(scrollback.ToolResult{CallID: "1", Name: "ls"})
	changed := func(e transcript.Entry, change func(*transcript.Entry)) transcript.Entry {
		change(&e)
		return e
	}
	for want, entries := range map[string][]transcript.Entry{
		"":                         {first, hello, call, done, {Source: "a", Rewind: &one}, hello, end},
		"has no End":               {first, hello},
		"was not described before": {hello, end},
		"described twice":          {first, first, end},
		"goes on after its End":    {first, end, hello},
		"a rewind to 2 of 1":       {first, hello, {Source: "a", Rewind: &two}, end},
		"0 things":                 {first, say(), changed(say(), func(e *transcript.Entry) { e.Message.Role = "" }), end},
		"without parts":            {first, say(), end},
		"role":                     {first, changed(hello, func(e *transcript.Entry) { e.Message.Role = "robot" }), end},
		"of part 0": {first, changed(hello, func(e *transcript.Entry) { e.Bytes = map[int][]byte{0: nil} }),
			end},
		"an image without bytes": {first, say(scrollback.Image{}), end},
		"not JSON": {first, say(scrollback.ToolCall{ID: "1", Name: "ls", Arguments: json.RawMessage(`{`)}),
			end},
		"without an id or a name": {first, say(scrollback.ToolCall{ID: "1", Arguments: json.RawMessage(`{}`)}), end},
		"the result of 1":         {first, call, say(scrollback.ToolResult{CallID: "1", Name: "rm"}), end},
		"the time -1":             {first, changed(hello, func(e *transcript.Entry) { e.Message.CreatedAt = -1 }), end},
		"not an object": {first,
			changed(hello, func(e *transcript.Entry) { e.Message.Meta = json.RawMessage(`[]`) }), end},
		"not UTF-8": {first, say(scrollback.Text{Text: "\xff"}), end},
		"no Origin": {changed(first, func(e *transcript.Entry) { e.Origin = nil }), end},
		"more than ID": {changed(first,
			func(e *transcript.Entry) { e.Origin = &scrollback.Origin{ID: "a", Tool: "t"} }), end},
		"of itself": {changed(first,
			func(e *transcript.Entry) { e.Agent = &transcript.AgentOf{Source: "a"} }), end},
		`a sub-agent of "b"`: {changed(first,
			func(e *transcript.Entry) { e.Agent = &transcript.AgentOf{Source: "b"} }), end},
		"were left out":                    {first, {Source: "a", End: &transcript.End{Left: map[string]int{"mode": 0}}}},
		"a bad line without a reason":      {{Bad: &transcript.Bad{Line: 1}}, first, end},
		"no sentence for \"it was wrong\"": {{Bad: &transcript.Bad{Reason: "it was wrong"}}, first, end},
	} {
		r := listed(transcript.Session{ID: "a", Name: "a", Stamp: "1"}, entries...)
		if got := strings.Join(listFaults(r), "\n"); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q is not among %q", want, got)
		}
	}
	for _, s := range []transcript.Session{
		{}, {ID: "a", Name: "../b", Stamp: "1"}, {ID: "a", Name: "b"}, {ID: "a", Name: "b", Stamp: "1", Bytes: -1},
		{ID: "a", Name: "b", Bad: "it was wrong"},
	} {
		if got := listFaults(listed(s)); len(got) == 0 {
			t.Errorf("nothing is wrong with %+v", s)
		}
	}
}

func listed(s transcript.Session, entries ...transcript.Entry) placeReading {
	return placeReading{sessions: []transcript.Session{s}, entries: [][]transcript.Entry{entries}, errs: make([]error, 1)}
}

// A reader that panics, asks for too much memory or does not end is caught.
func TestMutantsCanFail(t *testing.T) {
	for want, read := range map[string]func(yield func(transcript.Entry, error) bool){
		"a panic": func(func(transcript.Entry, error) bool) { panic("x") },
		"were allocated": func(yield func(transcript.Entry, error) bool) {
			yield(transcript.Entry{}, fmt.Errorf("%d", len(make([]byte, 100<<20))))
		},
		"more than": func(yield func(transcript.Entry, error) bool) {
			more := true
			for more {
				more = yield(transcript.Entry{Bad: &transcript.Bad{Reason: "not JSON"}}, nil)
			}
		},
		"follows an error": func(yield func(transcript.Entry, error) bool) {
			_ = yield(transcript.Entry{}, fs.ErrInvalid) && yield(transcript.Entry{}, nil)
		},
	} {
		v := loadVariant(t, Case{Tool: bad{read: read}, FS: fixture(), Name: "."})
		if got := v.tryMutant(t, ""); !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
}

// bad is a tool whose reader does that.
type bad struct {
	toy
	read iter.Seq2[transcript.Entry, error]
}

func (b bad) Read(context.Context, transcript.Place, transcript.Session) iter.Seq2[transcript.Entry, error] {
	return b.read
}

// Changes are the same in every run, and change something.
func TestMutantsAreTheSame(t *testing.T) {
	v := loadVariant(t, Case{Tool: toy{}, FS: fixture(), Name: "."})
	same := 0
	for i := range 300 {
		a, what := v.makeMutant(rnd(i))
		b, again := v.makeMutant(rnd(i))
		if what != again || fmt.Sprint(dump(a)) != fmt.Sprint(dump(b)) {
			t.Fatalf("mutant %d differs: %s, %s", i, what, again)
		}
		if fmt.Sprint(dump(a)) == fmt.Sprint(dump(v)) {
			same++
		}
	}
	if same > 60 {
		t.Errorf("%d of 300 mutants are the fixture", same)
	}
	if got := fmt.Sprint(dump(loadVariant(t, Case{Tool: toy{}, FS: fixture()}))); got != fmt.Sprint(dump(v)) {
		t.Errorf("mutants changed the fixture: %s", got)
	}
}

func rnd(i int) *rand.Rand { return rand.New(rand.NewPCG(1, uint64(i))) }

func dump(v variant) (out []string) {
	for _, name := range v.fileNames() {
		out = append(out, name, string(v.files[name].Data))
	}
	return out
}
