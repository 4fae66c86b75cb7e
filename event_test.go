package scrollback_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback"
)

// events is one of every type with the JSON it must have.
var events = map[string]scrollback.Event{
	`{"type":"turn","turn_id":"t","user_message_id":"m","seq":1}`: scrollback.TurnEvent{TurnID: "t", UserMessageID: "m",
		Seq: 1},
	`{"type":"delta","content":"a<b & ","at":0}`: scrollback.DeltaEvent{Content: "a<b & "},
	`{"type":"reasoning","content":"r","at":3}`:  scrollback.ReasoningEvent{Content: "r", At: 3},
	`{"type":"tool_call","id":"c","name":"n","arguments":{"a":"<"}}`: scrollback.ToolCallEvent{ID: "c", Name: "n",
		Arguments: json.RawMessage(`{"a":"<"}`)},
	`{"type":"tool_result","call_id":"c","name":"n","text":"t"}`: scrollback.ToolResultEvent{CallID: "c", Name: "n",
		Text: "t"},
	`{"type":"message","message_id":"m","seq":2}`: scrollback.MessageEvent{MessageID: "m", Seq: 2},
	`{"type":"search","query":"q","results":[{"title":"t","url":"https://a.test","text":"x"}]}`: scrollback.SearchEvent{
		Search: scrollback.Search{Query: "q", Results: []scrollback.Source{{Title: "t", URL: "https://a.test", Text: "x"}}}},
	`{"type":"snapshot","content":"c","reasoning":"","tool_calls":[],"at":1}`: scrollback.SnapshotEvent{Content: "c",
		ToolCalls: []scrollback.ToolCall{}, At: 1},
	`{"type":"compaction","result":"compacted","segments":["s"],"refs":["history:s"],"first_seq":1,"last_seq":2,"tokens_before":9,` +
		`"tokens_after":3,` +
		`"summary_by":"extractive","cost":0,"created_at":5,"duration_ms":0}`: scrollback.CompactionEvent{Receipt: scrollback.Receipt{
		Result:   scrollback.ResultCompacted,
		Segments: []scrollback.SegmentID{"s"}, Refs: []scrollback.Ref{"history:s"}, FirstSeq: 1, LastSeq: 2, TokensBefore: 9,
		TokensAfter: 3,
		SummaryBy:   scrollback.SummaryExtractive, CreatedAt: 5}},
	`{"type":"compacting","tokens":9,"budget":8}`: scrollback.CompactingEvent{Tokens: 9, Budget: 8},
	`{"type":"usage","input_tokens":1,"cached_tokens":2,"cache_write_tokens":3,"output_tokens":4,"reasoning_tokens":5,"total_tokens":6,` +
		`"cost":0.5,"currency":"USD","estimated":true}`: scrollback.UsageEvent{
		Usage: scrollback.Usage{InputTokens: 1, CachedTokens: 2, CacheWriteTokens: 3, OutputTokens: 4, ReasoningTokens: 5,
			TotalTokens: 6,
			Cost:        0.5, Currency: "USD", Estimated: true}},
	`{"type":"credits","amount":0.25,"currency":"USD"}`: scrollback.CreditsEvent{Amount: 0.25, Currency: "USD"},
	`{"type":"meta","model":"m","thinking_ms":7,"cache_reuse":0.5,"tokens":1,"budget":2,"limit":3,"limit_from":"list"}`: scrollback.MetaEvent{
		Model: "m", ThinkingMS: 7, CacheReuse: 0.5, Tokens: 1, Budget: 2, Limit: 3, LimitFrom: scrollback.LimitList},
	`{"type":"error","code":"internal","message":"m"}`: scrollback.ErrorEvent{Failure: scrollback.Failure{Code: scrollback.Internal,
		Message: "m"}},
	`{"type":"done","turn_id":"t","message_id":"m","status":"complete","finish_reason":"stop"}`: scrollback.DoneEvent{TurnID: "t",
		MessageID: "m",
		Status:    scrollback.TurnComplete, FinishReason: scrollback.FinishStop},
}

func TestEvents(t *testing.T) {
	for want, ev := range events {
		got, err := scrollback.EncodeEvent(ev)
		if err != nil || string(got) != want {
			t.Errorf("wrote  %s (%v)\nwanted %s", got, err, want)
		}
	}
}

// An event is one line whatever it carries, and its fields come back the same.
func TestEventsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := scrollback.SnapshotEvent{Content: awkward.Draw(t, "content"), Reasoning: awkward.Draw(t, "reasoning"),
			At: rapid.Int().Draw(t, "at"),
			ToolCalls: []scrollback.ToolCall{{ID: "c", Name: "n", Arguments: json.RawMessage(`{}`),
				Opaque: payload(t, "opaque")}}}
		b, err := scrollback.EncodeEvent(in)
		if err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(string(b), "\n\r") {
			t.Fatalf("more than a line: %s", b)
		}
		var out scrollback.SnapshotEvent
		if err := json.Unmarshal(b, &out); err != nil || !reflect.DeepEqual(in, out) {
			t.Fatalf("%v\nwrote %#v\nread  %#v", err, in, out)
		}
	})
}

// implementors lists the types of this package that have the marker method, and
// the name each gives itself, as the source says.
func implementors(t *testing.T, marker string) map[string]string {
	t.Helper()
	out := map[string]string{}
	//nolint:staticcheck // one folder, no build tags
	pkgs, err := parser.ParseDir(token.NewFileSet(), ".",
		func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, pkg := range pkgs {
		for _, file := range pkg.Files {
			for _, d := range file.Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok || f.Recv == nil || f.Name.Name != marker {
					continue
				}
				ret := f.Body.List[0].(*ast.ReturnStmt).Results[0].(*ast.BasicLit)
				out[f.Recv.List[0].Type.(*ast.Ident).Name] = strings.Trim(ret.Value, `"`)
			}
		}
	}
	return out
}

// The sums are closed: a type that is added has to be added here, to the decoder
// and to the list of types as well.
func TestPartsAreClosed(t *testing.T) {
	found := implementors(t, "partType")
	known := map[string]scrollback.Part{"Text": scrollback.Text{}, "Image": scrollback.Image{}, "File": scrollback.File{},
		"Reasoning": scrollback.Reasoning{},
		"ToolCall":  scrollback.ToolCall{Arguments: json.RawMessage(`{}`)}, "ToolResult": scrollback.ToolResult{}}
	if len(found) != len(known) || len(found) < 6 || len(scrollback.PartTypes()) != len(found) {
		t.Fatalf("the source has %v, PartTypes %v, this test %d", found, scrollback.PartTypes(), len(known))
	}
	for name, tag := range found {
		part, ok := known[name]
		if !ok || !slices.Contains(scrollback.PartTypes(), tag) {
			t.Errorf("%s (%q) is not in this test or not in PartTypes", name, tag)
			continue
		}
		text := plain(t, scrollback.Parts{part})
		if !strings.HasPrefix(text, `[{"type":"`+tag+`",`) {
			t.Errorf("%s is written as %s", name, text)
		}
		var back scrollback.Parts
		if err := json.Unmarshal([]byte(text), &back); err != nil || !reflect.DeepEqual(back, scrollback.Parts{part}) {
			t.Errorf("%s is read back as %#v, %v", name, back, err)
		}
	}
}

func TestEventsAreClosed(t *testing.T) {
	known := map[string]scrollback.Event{}
	for _, ev := range events {
		known[reflect.TypeOf(ev).Name()] = ev
	}
	found := implementors(t, "eventType")
	if len(found) < 13 || len(found) != len(known) {
		t.Errorf("the source has %d types of event, this test %d", len(found), len(known))
	}
	tags := map[string]string{}
	for name, tag := range found {
		if other := tags[tag]; other != "" {
			t.Errorf("%s and %s are both %q", name, other, tag)
		}
		tags[tag] = name
		ev, ok := known[name]
		if !ok {
			t.Errorf("%s is not in this test", name)
			continue
		}
		if b, err := scrollback.EncodeEvent(ev); err != nil || !strings.HasPrefix(string(b), `{"type":"`+tag+`",`) {
			t.Errorf("%s is written as %s, %v", name, b, err)
		}
	}
}
