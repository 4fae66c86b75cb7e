package crash_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
)

// marker is in each prompt of a talker, and says what the answer is.
var marker = regexp.MustCompile(`turn-\d+-\d+`)

// pieces returns what the model answers to a marker.
func pieces(mark string) (out []string) {
	for i := range 16 {
		out = append(out, fmt.Sprintf("%s 第%d piece, ", mark, i))
	}
	return out
}

// echo returns a model's server that streams its answer in pieces, one at each pace. It returns
// what makes it the model.
func echo(t *testing.T, pace time.Duration) []string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		marks := marker.FindAllString(string(body), -1)
		if err != nil || r.Method != http.MethodPost || len(marks) == 0 {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		say := func(delta, finish string) {
			fmt.Fprintf(w, `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m",`+
				`"choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`+"\n\n", delta, finish)
			_ = http.NewResponseController(w).Flush()
		}
		for _, p := range pieces(marks[len(marks)-1]) {
			content, err := json.Marshal(map[string]string{"content": p})
			if err != nil {
				return
			}
			say(string(content), "null")
			select {
			case <-time.After(pace):
			case <-r.Context().Done():
				return
			}
		}
		say("{}", `"stop"`)
		fmt.Fprint(w, "data: [DONE]\n\n")
	}))
	t.Cleanup(s.Close)
	return []string{"SCROLLBACK_BASE_URL=" + s.URL, "SCROLLBACK_MODEL=custom/m", "SCROLLBACK_LIMIT=32000"}
}

// talker is a client with a conversation of its own: it sends each prompt until it is taken,
// under one key, and reads each answer to its end, wherever that can be had.
type talker struct {
	t    *testing.T
	n    int
	url  func() string // of some server, another one each time
	rng  *rand.Rand
	http *http.Client

	id   scrollback.ConversationID
	said []said
}

// said is one turn as its client knows it.
type said struct {
	mark   string
	turn   scrollback.TurnID
	text   string
	last   string               // the id of the newest event
	status scrollback.TurnState // empty until it has ended
	moves  int                  // connections that it took
}

// silence is how long a talker waits for the next byte before it goes elsewhere.
const silence = 3 * time.Second

// endurance is how long one turn may take: some leases of dead servers.
const endurance = 3 * time.Minute

func newTalker(t *testing.T, n int, url func() string) *talker {
	dial := net.Dialer{Timeout: time.Second}
	return &talker{t: t, n: n, url: url, rng: rand.New(rand.NewPCG(uint64(n), 7)),
		http: &http.Client{Transport: &http.Transport{DialContext: dial.DialContext, DisableKeepAlives: true}}}
}

// send sends a request until a server takes it, and returns its response. A status below 500
// that is not wanted ends the test.
func (c *talker) send(ctx context.Context, method, path, body string,
	h map[string]string) (*http.Response, context.CancelFunc) {
	for ctx.Err() == nil {
		once, cancel := context.WithCancel(ctx)
		late := time.AfterFunc(silence, cancel)
		req, err := http.NewRequestWithContext(once, method, c.url()+path, strings.NewReader(body))
		if err != nil {
			c.t.Error(err)
			cancel()
			return nil, nil
		}
		req.Header.Set("Content-Type", "application/json")
		for k, v := range h {
			req.Header.Set(k, v)
		}
		resp, err := c.http.Do(req)
		if late.Stop(); err == nil && resp.StatusCode < 300 {
			return resp, cancel
		}
		if err == nil {
			text, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if resp.StatusCode < 500 && resp.StatusCode != http.StatusConflict { // somebody's lease has not ended
				c.t.Errorf("%s %s: %d %s", method, path, resp.StatusCode, text)
			}
		}
		cancel()
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(50+c.rng.IntN(150)) * time.Millisecond):
		}
	}
	return nil, nil
}

// begin creates the conversation.
func (c *talker) begin() {
	ctx, cancel := context.WithTimeout(context.Background(), endurance)
	defer cancel()
	id := fmt.Sprintf("00000000-0000-7000-8000-%012d", c.n)
	for c.id == "" && ctx.Err() == nil {
		resp, done := c.send(ctx, "POST", "/api/conversations", `{"id":"`+id+`"}`, nil)
		if resp == nil {
			break
		}
		var conv scrollback.Conversation
		if json.NewDecoder(resp.Body).Decode(&conv) == nil {
			c.id = conv.ID
		}
		resp.Body.Close()
		done()
	}
	if c.id == "" {
		c.t.Errorf("talker %d has no conversation", c.n)
	}
}

// say says one prompt, and reads its answer.
func (c *talker) say(k int) {
	s := said{mark: fmt.Sprintf("turn-%d-%d", c.n, k)}
	ctx, cancel := context.WithTimeout(context.Background(), endurance)
	defer cancel()
	for s.status == "" && ctx.Err() == nil {
		method := "POST"
		path := fmt.Sprintf("/api/conversations/%s/chat", c.id)
		body := fmt.Sprintf(`{"message":"Please say %s."}`, s.mark)
		h := map[string]string{"Idempotency-Key": s.mark}
		if s.turn != "" {
			method = "GET"
			path = fmt.Sprintf("/api/conversations/%s/turns/%s/events", c.id, s.turn)
			body = ""
			h = map[string]string{"Last-Event-ID": s.last}
		}
		resp, done := c.send(ctx, method, path, body, h)
		if resp == nil {
			break
		}
		s.moves++
		c.read(&s, resp.Body, done)
	}
	if s.status == "" {
		c.t.Errorf("%s has not ended: %+v", s.mark, s)
	}
	c.said = append(c.said, s)
}

// read reads events until the turn has ended, or nothing more comes.
func (c *talker) read(s *said, body io.ReadCloser, cancel context.CancelFunc) {
	defer cancel()
	defer body.Close()
	late := time.AfterFunc(silence, cancel)
	defer late.Stop()
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() && s.status == "" {
		late.Reset(silence)
		if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			s.last = id
		}
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		var f frame
		if !ok || json.Unmarshal([]byte(data), &f) != nil {
			continue
		}
		switch f.Type {
		case "turn":
			s.turn = f.TurnID
		case "snapshot":
			s.text = f.Content
		case "delta":
			if f.At != len([]rune(s.text)) {
				c.t.Errorf("%s: a piece for %d comes at %d, after %q", s.mark, f.At, len([]rune(s.text)), s.text)
			}
			s.text += f.Content
		case "done":
			s.status = f.Status
		}
	}
}

// check holds what is stored against what was acknowledged: each prompt once, in order, and
// behind it the answer that its client has read; of one that was cut off, no other text. It
// returns how many were answered in full.
func (c *talker) check(stored []scrollback.Message) (whole int) {
	c.t.Helper()
	at := 0
	next := func(role scrollback.Role) *scrollback.Message {
		if at < len(stored) && stored[at].Role == role {
			at++
			return &stored[at-1]
		}
		return nil
	}
	for _, s := range c.said {
		m := next(scrollback.RoleUser)
		if m == nil || !strings.Contains(m.Parts.Text(), s.mark+".") || m.TurnID != s.turn {
			c.t.Fatalf("talker %d: behind #%d stands %+v, want %s", c.n, at, m, s.mark)
		}
		answer := ""
		if m := next(scrollback.RoleAssistant); m != nil {
			answer = m.Parts.Text()
		}
		want := strings.Join(pieces(s.mark), "")
		switch {
		case s.status == scrollback.TurnComplete && (s.text != want || answer != want):
			c.t.Errorf("%s: the client has %q, stored is %q", s.mark, s.text, answer)
		case !strings.HasPrefix(want, answer) ||
			!strings.HasPrefix(want, s.text): // what was not acknowledged may be shorter there
			c.t.Errorf("%s, which ended %s: the client has %q, stored is %q", s.mark, s.status, s.text, answer)
		}
		if s.status == scrollback.TurnComplete {
			whole++
		}
	}
	if at != len(stored) {
		c.t.Errorf("talker %d: %d messages are stored that nobody sent: %+v", c.n, len(stored)-at, stored[at])
	}
	return whole
}
