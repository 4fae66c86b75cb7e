package crash_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// promises are what the server has acknowledged: messages by conversation.
type promises struct {
	mu       sync.Mutex
	messages map[scrollback.ConversationID]map[scrollback.MessageID]bool
	length   map[scrollback.ConversationID]int64 // of paths that an import or a fork reported
	acts     map[string]int
	words    []spoken
}

// spoken is an acknowledged message that holds a word which no other prompt has.
type spoken struct {
	word string
	id   scrollback.MessageID
}

func (p *promises) spoke(word string, m scrollback.MessageID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.words = append(p.words, spoken{word, m})
}

func (p *promises) message(c scrollback.ConversationID, m scrollback.MessageID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.messages[c] == nil {
		p.messages[c] = map[scrollback.MessageID]bool{}
	}
	p.messages[c][m] = true
}

func (p *promises) path(c scrollback.ConversationID, n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.length[c] = n
}

func (p *promises) did(act string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.acts[act]++
}

// client does things to a server that may die at any moment; what fails then is no
// fault.
type client struct {
	url string
	p   *promises
	rng *rand.Rand
}

func (c *client) post(path string, body any, into any) (int, bool) {
	b, err := json.Marshal(body)
	if err != nil {
		return 0, false
	}
	if r, ok := body.(string); ok {
		b = []byte(r)
	}
	resp, err := http.Post(c.url+path, "application/json", bytes.NewReader(b))
	if err != nil {
		return 0, false
	}
	defer resp.Body.Close()
	out, err := io.ReadAll(resp.Body)
	return resp.StatusCode, err == nil && resp.StatusCode < 300 && json.Unmarshal(out, into) == nil
}

// work goes on until the server is gone.
func (c *client) work() {
	var id scrollback.ConversationID
	for n := 0; ; n++ {
		var conv scrollback.Conversation
		if n%6 == 0 {
			if _, ok := c.post("/api/conversations", map[string]any{"limit": 3000}, &conv); !ok {
				return
			}
			id = conv.ID
		}
		at := fmt.Sprintf("/api/conversations/%s/", id)
		var receipt scrollback.Receipt
		switch c.rng.IntN(6) {
		case 0:
			if _, ok := c.post(at+"compact", map[string]any{"force": true}, &receipt); ok &&
				receipt.Result == scrollback.ResultCompacted {
				c.p.did("compact")
			}
		case 1:
			if _, ok := c.post(at+"fork", map[string]any{}, &conv); ok {
				c.p.path(conv.ID, conv.Messages)
				c.p.did("fork")
			}
		case 2:
			c.load()
		case 3:
			if _, ok := c.post(at+"rewind", map[string]any{"seq": c.rng.IntN(2)}, &conv); ok {
				c.p.did("rewind")
			}
		default:
			if !c.chat(id) {
				return
			}
		}
	}
}

// load imports a file of its own.
func (c *client) load() {
	var file strings.Builder
	for i := range 40 {
		fmt.Fprintf(&file, `{"role":"%s","content":"import %d line %d %s"}`+"\n", []string{"user", "assistant"}[i%2],
			c.rng.Int64(), i,
			strings.Repeat("of the harbour ", 20))
	}
	var out struct {
		Conversations []struct {
			ID    scrollback.ConversationID `json:"id"`
			Total int64                     `json:"total"`
		} `json:"conversations"`
	}
	if _, ok := c.post("/api/import", file.String(), &out); ok {
		for _, conv := range out.Conversations {
			c.p.path(conv.ID, conv.Total)
		}
		c.p.did("import")
	}
}

// chat runs a turn and notes each message that the stream acknowledges.
func (c *client) chat(id scrollback.ConversationID) bool {
	var word strings.Builder
	for range 10 { // without a vowel it has no ending that search would cut off
		word.WriteByte("bcdfghjklmnpqrtvwxz"[c.rng.IntN(19)])
	}
	body := fmt.Sprintf(`{"message":"berth %s is free %s"}`, &word, strings.Repeat("at noon and ", 60))
	resp, err := http.Post(fmt.Sprintf("%s/api/conversations/%s/chat", c.url, id), "application/json",
		strings.NewReader(body))
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		var f struct {
			Type string               `json:"type"`
			User scrollback.MessageID `json:"user_message_id"`
			ID   scrollback.MessageID `json:"message_id"`
		}
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok || json.Unmarshal([]byte(data), &f) != nil {
			continue
		}
		switch f.Type {
		case "turn":
			c.p.message(id, f.User)
			c.p.spoke(word.String(), f.User)
		case "message":
			c.p.message(id, f.ID)
			c.p.did("answer")
		}
	}
	return true
}

// kept holds a server against the promises.
func (p *promises) kept(t *testing.T, s *served) {
	t.Helper()
	for id, want := range p.messages {
		found := map[scrollback.MessageID]bool{}
		bs := get[struct{ Branches []scrollback.BranchEntry }](s, fmt.Sprintf("/api/conversations/%s/branches", id)).Branches
		for _, b := range bs {
			page := get[struct{ Messages []scrollback.Message }](s, fmt.Sprintf("/api/conversations/%s/messages", id), "branch",
				string(b.ID),
				"limit", "200")
			for _, m := range page.Messages {
				found[m.ID] = true
			}
		}
		for m := range want {
			if !found[m] {
				t.Errorf("message %s of %s was acknowledged, and is gone", m, id)
			}
		}
		get[scrollback.Manifest](s, fmt.Sprintf("/api/conversations/%s/context", id)) // it opens
	}
	for id, n := range p.length {
		if c := get[scrollback.Conversation](s, fmt.Sprintf("/api/conversations/%s", id)); c.Messages < n {
			t.Errorf("%s had %d messages, and has %d", id, n, c.Messages)
		}
	}
}

// found searches for the newest n acknowledged words: each finds its message, and nothing
// twice, wherever the kill fell between the commit and the index.
func (p *promises) found(t *testing.T, s *served, n int) {
	t.Helper()
	for _, w := range p.words[max(0, len(p.words)-n):] {
		r := get[scrollback.SearchResult](s, "/api/search", "q", `"`+w.word+`"`, "limit", "100", "around", "0")
		seen := map[scrollback.MessageID]bool{}
		for _, h := range r.Hits {
			if seen[h.MessageID] {
				t.Errorf("message %s is found twice by %s", h.MessageID, w.word)
			}
			seen[h.MessageID] = true
		}
		if !seen[w.id] || r.Total != len(r.Hits) {
			t.Errorf("message %s was acknowledged, and %s finds %d messages of %d", w.id, w.word, len(r.Hits), r.Total)
		}
	}
}

// kill -9 at random moments while four clients chat, fold, fork, go back and import:
// every acknowledged message is there and is found by the next search, every conversation
// opens, and the check finds nothing wrong.
func TestKilledAnywhere(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	kills := testlength.Choose(10, 20, 200)
	data := t.TempDir()
	rng := rand.New(rand.NewPCG(9, 9))
	acts := map[string]int{}
	var last *promises
	var words []spoken // of all rounds
	acknowledged := []string{"answer", "compact", "fork", "rewind", "import"}
	rare := func(act string) bool { return acts[act] < kills/10 }
	// A slow machine acknowledges less between two kills: it gets more of them, and
	// more time before each.
	enough := func() bool { return len(words) >= kills && !slices.ContainsFunc(acknowledged, rare) }
	for round := 0; round < kills || round < 3*kills && !enough(); round++ {
		s := serve(t, data, []string{"SCROLLBACK_OFFLINE_PACE=1ms"})
		if last != nil {
			last.kept(t, s)
			last.found(t, s, 20)
		}
		p := &promises{messages: map[scrollback.ConversationID]map[scrollback.MessageID]bool{},
			length: map[scrollback.ConversationID]int64{},
			acts:   map[string]int{}}
		var clients sync.WaitGroup
		for i := range 4 {
			c := &client{url: s.url, p: p, rng: rand.New(rand.NewPCG(uint64(round), uint64(i)))}
			clients.Go(c.work)
		}
		<-time.After(time.Duration(20+rng.IntN(250<<(round/kills))) * time.Millisecond) // the moment is what is tested
		s.kill()
		clients.Wait()
		if round%10 == 0 || round == kills-1 {
			if code, c := checkup(t, data); code != 0 || !c.OK {
				t.Fatalf("after kill %d: %+v", round, c.Problems)
			}
		}
		for act, n := range p.acts {
			acts[act] += n
		}
		last = p
		words = append(words, p.words...)
	}
	if code, c := checkup(t, data); code != 0 || !c.OK {
		t.Fatalf("after the last kill: %+v", c.Problems)
	}
	s := serve(t, data, nil)
	last.kept(t, s)
	last.found(t, s, len(last.words))
	(&promises{words: words}).found(t, s, 500)
	s.stop() // what was behind is in the index now, or stays behind: both are well
	if code, c := checkup(t, data); code != 0 || !c.OK {
		t.Fatalf("after the end: %+v", c.Problems)
	}
	(&promises{words: words}).found(t, serve(t, data, nil), 100)
	for _, act := range acknowledged {
		if rare(act) {
			t.Errorf("only %d times: %s", acts[act], act)
		}
	}
	if len(words) < kills {
		t.Errorf("%d kills, and only %d words to search for", kills, len(words))
	}
	t.Logf("%d kills; acknowledged: %v, words: %d", kills, acts, len(words))
}
