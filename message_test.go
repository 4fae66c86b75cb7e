package scrollback_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// golden returns messages that use every field the hash covers.
func golden() []scrollback.Message {
	return []scrollback.Message{
		{ID: "0190a", ConversationID: "c", Branch: "b", Seq: 1, Role: scrollback.RoleUser, Name: "Ann",
			Status:    scrollback.StatusComplete,
			CreatedAt: 1700000000000,
			Meta:      json.RawMessage(`{"k":"<&>"}`),
			Parts: scrollback.Parts{scrollback.Text{Text: "记住 <b> & \u2028"},
				scrollback.Image{Artifact: "ab", MediaType: "image/png", Size: 3,
					Width: 1, Height: 2}}},
		{ID: "0190b", ConversationID: "c", Branch: "b", Seq: 2, TurnID: "t", Role: scrollback.RoleAssistant, Model: "p/m",
			Status:    scrollback.StatusInterrupted,
			CreatedAt: 1700000000001, Tokens: 9, Usage: &scrollback.Usage{InputTokens: 1},
			Parts: scrollback.Parts{scrollback.Reasoning{Text: "r", Opaque: json.RawMessage(`{"sig":"=="}`)},
				scrollback.ToolCall{ID: "1", Name: "f", Arguments: json.RawMessage(`{"a": 1}`)}}},
		{ID: "0190c", ConversationID: "c", Branch: "b", Seq: 3, TurnID: "t", Role: scrollback.RoleTool,
			Status:    scrollback.StatusComplete,
			CreatedAt: 1700000000002,
			Parts: scrollback.Parts{scrollback.ToolResult{CallID: "1", Name: "f", Text: "x", Artifact: "cd", IsError: true,
				Recall: true},
				scrollback.File{Artifact: "ef", MediaType: "text/plain", Name: "n"}}},
	}
}

// goldenText is what the hash of the golden messages is of. It must never change:
// every segment that is stored anywhere was sealed with this form.
const goldenText = `{"id":"0190a","seq":1,"role":"user","name":"Ann","parts":[{"type":"text","text":"记住 <b> & \u2028"},{"type":"image","artifact":"ab","media_type":"image/png","size":3,"width":1,"height":2}],"status":"complete","created_at":1700000000000,"meta":{"k":"<&>"}}
{"id":"0190b","seq":2,"turn_id":"t","role":"assistant","parts":[{"type":"reasoning","text":"r","opaque":{"sig":"=="}},{"type":"tool_call","id":"1","name":"f","arguments":{"a":1}}],"model":"p/m","status":"interrupted","created_at":1700000000001}
{"id":"0190c","seq":3,"turn_id":"t","role":"tool","parts":[{"type":"tool_result","call_id":"1","name":"f","text":"x","artifact":"cd","is_error":true,"recall":true},{"type":"file","artifact":"ef","media_type":"text/plain","name":"n","size":0}],"status":"complete","created_at":1700000000002}
`

// goldenHash is its SHA-256.
const goldenHash = "a34b7ce743f67f2201274fdbb8a16b21409942640a9bedd9115cfcccb318b1b0"

func TestHashGolden(t *testing.T) {
	if sum := sha256.Sum256([]byte(goldenText)); hex.EncodeToString(sum[:]) != goldenHash {
		t.Errorf("the golden text and its hash do not agree: %x", sum)
	}
	got, err := scrollback.HashMessages(golden())
	if err != nil || got != goldenHash {
		t.Errorf("hash %s, %v; want %s", got, err, goldenHash)
	}
	if got, err := scrollback.HashMessages(nil); err != nil ||
		got != "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Errorf("of nothing: %s, %v", got, err)
	}
	if sum := sha256.Sum256([]byte("a\nb\n")); scrollback.HashChildren([]string{"a", "b"}) != hex.EncodeToString(sum[:]) {
		t.Error("of children: not one a line")
	}
}

// The hash covers what was said and nothing that the store works out.
func TestHashCovers(t *testing.T) {
	base, err := scrollback.HashMessages(golden())
	if err != nil {
		t.Fatal(err)
	}
	edits := map[string]struct {
		edit    func(*scrollback.Message)
		covered bool
	}{
		"id":           {func(m *scrollback.Message) { m.ID = "x" }, true},
		"seq":          {func(m *scrollback.Message) { m.Seq++ }, true},
		"turn":         {func(m *scrollback.Message) { m.TurnID = "x" }, true},
		"role":         {func(m *scrollback.Message) { m.Role = scrollback.RoleSystem }, true},
		"name":         {func(m *scrollback.Message) { m.Name = "x" }, true},
		"text":         {func(m *scrollback.Message) { m.Parts = scrollback.Parts{scrollback.Text{Text: "x"}} }, true},
		"model":        {func(m *scrollback.Message) { m.Model = "x" }, true},
		"status":       {func(m *scrollback.Message) { m.Status = scrollback.StatusFailed }, true},
		"time":         {func(m *scrollback.Message) { m.CreatedAt++ }, true},
		"meta":         {func(m *scrollback.Message) { m.Meta = json.RawMessage(`{"x":1}`) }, true},
		"conversation": {func(m *scrollback.Message) { m.ConversationID = "x" }, false},
		"branch":       {func(m *scrollback.Message) { m.Branch = "x" }, false},
		"tokens":       {func(m *scrollback.Message) { m.Tokens++ }, false},
		"usage":        {func(m *scrollback.Message) { m.Usage = &scrollback.Usage{InputTokens: 5} }, false},
		"weight":       {func(m *scrollback.Message) { m.Weight.Tokens++; m.Sum.Tokens++ }, false},
	}
	for name, e := range edits {
		for i := range golden() {
			ms := golden()
			e.edit(&ms[i])
			got, err := scrollback.HashMessages(ms)
			if err != nil || (got != base) != e.covered {
				t.Errorf("%s of message %d: changed %v, %v", name, i, got != base, err)
			}
		}
	}
	ms := golden()
	slices.Reverse(ms)
	if got, _ := scrollback.HashMessages(ms); got == base {
		t.Error("the order is not covered")
	}
	bad := golden()
	bad[0].Meta = json.RawMessage(`{`)
	if _, err := scrollback.HashMessages(bad); err == nil {
		t.Error("what is no JSON was hashed")
	}
}

func TestRefSplit(t *testing.T) {
	long := strings.Repeat("a", 64)
	for ref, want := range map[scrollback.Ref][2]string{
		"history:0190a0b0-c1":              {"history", "0190a0b0-c1"},
		"artifact:00ff":                    {"artifact", "00ff"},
		"history:-":                        {"history", "-"},
		"artifact:" + scrollback.Ref(long): {"artifact", long},
		scrollback.HistoryRef("ab"):        {"history", "ab"},
		scrollback.ArtifactRef("cd"):       {"artifact", "cd"},
	} {
		kind, id, err := ref.Split()
		if err != nil || kind != want[0] || id != want[1] {
			t.Errorf("%q splits into %q, %q, %v", ref, kind, id, err)
		}
	}
	for _, ref := range []scrollback.Ref{"", "history", "history:", ":ab", "History:ab", "message:ab", " history:ab",
		"history: ab",
		"history:AB", "history:a/b",
		"history:..", "artifact:../../etc", "history:a:b", "history:ab\n", "history:a\x00",
		"artifact:" + scrollback.Ref(long) + "a", "history:记",
		"history:xyz"} {
		if kind, id, err := ref.Split(); err == nil || kind != "" || id != "" {
			t.Errorf("%q splits into %q and %q", ref, kind, id)
		}
	}
	_, _, err := scrollback.Ref(strings.Repeat("x", 10_000)).Split()
	if err == nil || len(err.Error()) > 200 {
		t.Errorf("a huge ref is quoted whole: %v", err)
	}
}

func TestParseRole(t *testing.T) {
	for _, r := range []string{"system", "user", "assistant", "tool"} {
		if got, err := scrollback.ParseRole(r); err != nil || string(got) != r {
			t.Errorf("%s: %v, %v", r, got, err)
		}
	}
	for _, r := range []string{"", "User", "model", "developer", "tool "} {
		if _, err := scrollback.ParseRole(r); err == nil || !strings.Contains(err.Error(), `"`+r+`"`) {
			t.Errorf("%q: %v", r, err)
		}
	}
}

func TestSums(t *testing.T) {
	a := scrollback.Weight{Tokens: 1, Bytes: 2, Images: 3}
	b := scrollback.Weight{Tokens: 10, Bytes: 20, Images: 30}
	if got := a.Add(b); got != (scrollback.Weight{Tokens: 11, Bytes: 22, Images: 33}) || got.Sub(b) != a {
		t.Errorf("%+v", got)
	}
	u := scrollback.Usage{InputTokens: 1, CachedTokens: 2, CacheWriteTokens: 3, OutputTokens: 4, ReasoningTokens: 5,
		TotalTokens: 6, Cost: 0.5,
		Currency: "USD"}
	sum := u.Add(u)
	if sum != (scrollback.Usage{InputTokens: 2, CachedTokens: 4, CacheWriteTokens: 6, OutputTokens: 8, ReasoningTokens: 10,
		TotalTokens: 12,
		Cost:        1, Currency: "USD"}) {
		t.Errorf("%+v", sum)
	}
	if got := (scrollback.Usage{}).Add(scrollback.Usage{Estimated: true, Currency: "EUR"}); !got.Estimated ||
		got.Currency != "EUR" {
		t.Errorf("%+v", got)
	}
	d := scrollback.Draft{Content: "c", Reasoning: "r", ToolCalls: []scrollback.ToolCall{{ID: "1"}}}
	if ps := d.Parts(); len(ps) != 3 || ps.Text() != "c" || len(ps.Calls()) != 1 || d.IsEmpty() ||
		!(scrollback.Draft{Model: "m"}).IsEmpty() {
		t.Errorf("%#v", ps)
	}
}
