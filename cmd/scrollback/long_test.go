package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/sample"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// window is the model's window, in tokens, of the long conversation.
const window = "8000"

// A conversation far longer than the window is imported, chatted on with over
// HTTP, folded again and again, and every fact of it is found again, also after
// kill -9.
func TestLongConversation(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	data := t.TempDir()
	length := testlength.Choose(600, 1500, 5000)
	var file bytes.Buffer
	messages, needles, err := sample.WriteSample(&file, "A long one", sample.Options{Seed: 42, Messages: length})
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, data, nil, "--limit", window)
	var imported struct {
		Conversations []struct {
			ID              scrollback.ConversationID
			Messages, Total int64
		}
	}
	if status := s.do(http.MethodPost, "/api/import", bytes.NewReader(file.Bytes()), &imported); status != http.StatusOK {
		t.Fatalf("import: %d", status)
	}
	id := imported.Conversations[0].ID
	if got := imported.Conversations[0].Messages; got != int64(length) {
		t.Fatalf("%d messages imported, want %d", got, length)
	}

	chatOn(t, s, id, needles)
	s.settled(id)
	checkNeedles(t, s, id, needles)
	checkOriginals(t, s, id, messages)

	before := get[scrollback.Manifest](s, "/api/conversations/"+string(id)+"/context")
	s.kill()
	s = serve(t, data, nil, "--limit", window)
	after := get[scrollback.Manifest](s, "/api/conversations/"+string(id)+"/context")
	if before.Tokens != after.Tokens || len(before.Excluded) != len(after.Excluded) {
		t.Errorf("after kill -9 the window has %d tokens and %d gaps, before %d and %d", after.Tokens, len(after.Excluded),
			before.Tokens,
			len(before.Excluded))
	}
	checkNeedles(t, s, id, needles)
	checkOriginals(t, s, id, messages)
	if got := answer(t, s.chat(id, needles[3].Question)); !strings.Contains(got, needles[3].Code) {
		t.Errorf("after kill -9, asked %q: %q", needles[3].Question, got)
	}
}

// chatOn talks until there were ten compactions more, asking for a needle now and
// then. Every request is under budget and every answer finds its fact.
func chatOn(t *testing.T, s *served, id scrollback.ConversationID, needles []sample.Needle) {
	t.Helper()
	folds := countFolds(s, id)
	talk, _ := sample.MakeSample(sample.Options{Seed: 5, Messages: 2000})
	said := 0
	for turn := 0; countFolds(s, id) < folds+10; turn++ {
		if turn == 300 {
			t.Fatalf("only %d compactions in %d turns", countFolds(s, id)-folds, turn)
		}
		question := ""
		code := ""
		if turn%10 == 5 {
			n := needles[(turn*7)%len(needles)]
			question = n.Question
			code = n.Code
		} else {
			for said++; len(question) < 1500; said++ {
				if p, ok := talk[said%len(talk)].Content[0]["text"].(string); ok && !strings.Contains(p, "code of") &&
					!strings.Contains(p, "门禁码") {
					question += p + " "
				}
			}
		}
		frames := s.chat(id, question)
		for _, f := range frames {
			if f.Type == "meta" && (f.Budget != 6000 || f.Tokens > f.Budget) {
				t.Fatalf("turn %d: a request of %d tokens, the budget is %d", turn, f.Tokens, f.Budget)
			}
			if f.Type == "error" {
				t.Fatalf("turn %d: %s %s", turn, f.Code, f.Message)
			}
		}
		if got := answer(t, frames); code != "" && !strings.Contains(got, code) {
			t.Errorf("turn %d, asked %q: %q lacks %s", turn, question, got, code)
		}
	}
}

func countFolds(s *served, id scrollback.ConversationID) (n int) {
	rs := get[struct{ Receipts []scrollback.Receipt }](s, fmt.Sprintf("/api/conversations/%s/receipts", id), "limit",
		"200")
	for _, r := range rs.Receipts {
		if r.Result == scrollback.ResultCompacted {
			n++
		}
	}
	return n
}

// checkNeedles finds every needle by grep and by search, behind a ref.
func checkNeedles(t *testing.T, s *served, id scrollback.ConversationID, needles []sample.Needle) {
	t.Helper()
	for _, n := range needles {
		found := get[scrollback.GrepResult](s, fmt.Sprintf("/api/conversations/%s/grep", id), "pattern", n.Code)
		if found.Total < 1 || found.Matches[0].Seq != int64(n.Seq) || found.Matches[0].Ref == nil ||
			!strings.Contains(found.Matches[0].Content, n.Fact) {
			t.Errorf("grep for %s: %+v", n.Code, found)
		}
		hits := get[scrollback.SearchResult](s, "/api/search", "q", n.Question, "conversation", string(id), "role", "user",
			"limit", "5")
		ok := false
		for _, h := range hits.Hits {
			ok = ok || h.Seq == int64(n.Seq) && h.Ref != nil && strings.Contains(h.Content, n.Fact)
		}
		if !ok {
			t.Errorf("search for %q does not find #%d", n.Question, n.Seq)
		}
	}
}

// checkOriginals reads every folded range behind its ref and compares it with
// what was imported: texts and arguments verbatim, outputs and images to the byte.
func checkOriginals(t *testing.T, s *served, id scrollback.ConversationID, messages []sample.Message) {
	t.Helper()
	covered := map[int64]bool{}
	for _, ref := range allRefs(s, id) {
		if ref.Kind != scrollback.RefHistory {
			continue
		}
		text := readAll(t, s, id, ref.Ref)
		if int64(len(text)) != ref.Bytes {
			t.Fatalf("%s has %d bytes, its ref says %d", ref.Ref, len(text), ref.Bytes)
		}
		if !strings.Contains(text, fmt.Sprintf("\n## #%d ", ref.FirstSeq)) {
			continue // a roll-up: a table of its children
		}
		for seq := ref.FirstSeq; seq <= ref.LastSeq && seq <= int64(len(messages)); seq++ {
			covered[seq] = true
			checkMessage(t, s, id, text, seq, messages[seq-1])
		}
		if t.Failed() {
			return
		}
	}
	m := get[scrollback.Manifest](s, "/api/conversations/"+string(id)+"/context")
	folded := int64(0)
	for _, x := range m.Excluded {
		folded = max(folded, x.LastSeq)
	}
	for seq := int64(1); seq <= min(folded, int64(len(messages))); seq++ {
		if !covered[seq] {
			t.Fatalf("message %d is folded, and no ref leads to it", seq)
		}
	}
	if folded < int64(len(messages))-100 {
		t.Fatalf("only %d messages are folded", folded)
	}
}

func checkMessage(t *testing.T, s *served, id scrollback.ConversationID, file string, seq int64, want sample.Message) {
	t.Helper()
	stored := storedMessage(s, id, seq)
	if len(stored.Parts) != len(want.Content) || string(stored.Role) != want.Role || stored.CreatedAt != want.CreatedAt {
		t.Fatalf("message %d is stored as %+v", seq, stored)
	}
	for i, p := range want.Content {
		switch p["type"] {
		case "text":
			if !strings.Contains(file, p["text"].(string)) || stored.Parts[i].(scrollback.Text).Text != p["text"] {
				t.Errorf("message %d: its text is not in the file", seq)
			}
		case "tool_call":
			args, _ := json.Marshal(p["arguments"])
			if !strings.Contains(file, string(args)) {
				t.Errorf("message %d: arguments %s are not in the file", seq, args)
			}
		case "tool_result":
			whole := p["text"].(string)
			if r := stored.Parts[i].(scrollback.ToolResult); r.Artifact != "" {
				if got := readAll(t, s, id, scrollback.ArtifactRef(r.Artifact)); got != whole {
					t.Errorf("message %d: the artifact has %d bytes, the output had %d", seq, len(got), len(whole))
				}
				if !strings.Contains(file, string(scrollback.ArtifactRef(r.Artifact))) {
					t.Errorf("message %d: the file does not lead to %s", seq, r.Artifact)
				}
			} else if !strings.Contains(file, whole) {
				t.Errorf("message %d: its output is not in the file", seq)
			}
		case "image":
			data, err := base64.StdEncoding.DecodeString(p["data"].(string))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := http.Get(fmt.Sprintf("%s/api/artifacts/%s?conversation=%s", s.url,
				stored.Parts[i].(scrollback.Image).Artifact, id))
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			got.ReadFrom(resp.Body)
			resp.Body.Close()
			if !bytes.Equal(got.Bytes(), data) {
				t.Errorf("message %d: the image differs", seq)
			}
		}
	}
}

// pages keeps what storedMessage read, a page at a time.
var pages = map[string]scrollback.Message{}

func storedMessage(s *served, id scrollback.ConversationID, seq int64) scrollback.Message {
	s.t.Helper()
	key := func(seq int64) string { return fmt.Sprint(s.url, id, seq) }
	if _, ok := pages[key(seq)]; !ok {
		query := []string{"after", fmt.Sprint(seq - 1), "limit", "200"}
		if seq == 1 {
			query = []string{"before", "201", "limit", "200"}
		}
		page := get[struct{ Messages []scrollback.Message }](s, fmt.Sprintf("/api/conversations/%s/messages", id), query...)
		for _, m := range page.Messages {
			pages[key(m.Seq)] = m
		}
	}
	return pages[key(seq)]
}

func allRefs(s *served, id scrollback.ConversationID) []scrollback.RefEntry {
	s.t.Helper()
	var out []scrollback.RefEntry
	cursor := ""
	for {
		page := get[struct {
			Refs []scrollback.RefEntry
			Next *string
		}](s, fmt.Sprintf("/api/conversations/%s/refs", id), "limit", "200", "cursor", cursor)
		out = append(out, page.Refs...)
		if page.Next == nil {
			return out
		}
		cursor = *page.Next
	}
}

// readAll joins the pages of a ref.
func readAll(t *testing.T, s *served, id scrollback.ConversationID, ref scrollback.Ref) string {
	t.Helper()
	var b strings.Builder
	for offset := int64(0); ; {
		page := get[scrollback.Page](s, fmt.Sprintf("/api/conversations/%s/refs/%s", id, ref), "offset", fmt.Sprint(offset),
			"limit", "65536")
		b.WriteString(page.Content)
		if page.Done {
			return b.String()
		}
		offset = page.NextOffset
	}
}
