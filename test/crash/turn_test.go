package crash_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// kill -9 in a turn: the draft is not lost, the conversation is held until the
// lease ends, and then the next server takes over.
func TestServerKilledInTurn(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	data := t.TempDir()
	s := serve(t, data, slices.Concat(slow, leased()))
	id := s.conversation()
	s.chat(id, fact)
	resp := s.open(id, question)
	defer resp.Body.Close()
	firstDelta(t, resp.Body)
	watch := serve(t, data, nil)
	until(t, 20*time.Second, func() bool { // a draft is saved once a second
		frames := watch.peek(id)
		return strings.Contains(frames, "snapshot") && strings.Contains(frames, "harbour")
	})
	s.kill()

	var conflict struct{ Error struct{ Code string } }
	if status := watch.do(http.MethodPost, fmt.Sprintf("/api/conversations/%s/chat", id),
		map[string]string{"message": "hello?"},
		&conflict); status != http.StatusConflict {
		t.Fatalf("while the dead server's lease lasts: %d %+v", status, conflict)
	}
	watch.cutOff(data, id)
	until(t, 30*time.Second, func() bool {
		resp, err := http.Post(fmt.Sprintf("%s/api/conversations/%s/chat", watch.url, id), "application/json",
			strings.NewReader(`{"message":"go on"}`))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		_, err = io.Copy(io.Discard, resp.Body)
		return err == nil && resp.StatusCode == http.StatusOK
	})
	log := watch.log(id)
	if len(log) != 6 || log[3].Status != scrollback.StatusInterrupted ||
		!strings.Contains(log[3].Parts.Text(), "harbour") ||
		log[4].Parts.Text() != "go on" {
		for _, m := range log {
			t.Logf("#%d %s %s %q", m.Seq, m.Role, m.Status, m.Parts.Text())
		}
		t.Error("the draft of the killed turn was not saved before the next turn")
	}
}

// cutOff waits until a turn whose process was killed is shown as interrupted, and looks at
// every other face: each shows what it wrote, and none writes anything.
func (s *served) cutOff(data string, id scrollback.ConversationID) {
	s.t.Helper()
	page := func() (p scrollback.MessagePage) {
		return get[scrollback.MessagePage](s, fmt.Sprintf("/api/conversations/%s/messages", id))
	}
	if p := page(); len(p.Turns) != 1 || p.Turns[0].State != scrollback.TurnOpen || p.Running == nil ||
		!strings.Contains(p.Turns[0].Content, "harbour") {
		s.t.Errorf("while its lease lasts it is shown as %+v", p.Turns)
	}
	version := func() int64 {
		return get[scrollback.Conversation](s, "/api/conversations/"+string(id)).Version
	}
	before := version()
	until(s.t, 30*time.Second, func() bool {
		p := page()
		return len(p.Turns) == 1 && p.Turns[0].State == scrollback.TurnInterrupted
	})
	if p := page(); p.Turns[0].AfterSeq != 3 || !p.Turns[0].Retry || p.Running != nil ||
		!strings.Contains(p.Turns[0].Content, "harbour") {
		s.t.Errorf("once it is over it is shown as %+v", p.Turns)
	}
	for want, args := range map[string][]string{
		"--retry":                 {"show", string(id)},
		`"state":"interrupted"`:   {"show", string(id), "--json"},
		`"status":"interrupted"`:  {"export", string(id), "--format", "jsonl", "-o", "-"},
		"scrollback run --conver": {"show", string(id), "--max", "1"},
	} {
		out, err := command(s.t, data, nil, args...).Output()
		if err != nil || !strings.Contains(string(out), want) || !strings.Contains(string(out), "harbour") {
			s.t.Errorf("%v: %v, %s", args, err, out)
		}
	}
	if after := version(); after != before {
		s.t.Errorf("reading has written: version %d, then %d", before, after)
	}
}

// peek attaches to the running turn from another process for a moment.
func (s *served) peek(id scrollback.ConversationID) string {
	s.t.Helper()
	page := get[struct{ Running *scrollback.TurnID }](s, fmt.Sprintf("/api/conversations/%s/messages", id))
	if page.Running == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet,
		fmt.Sprintf("%s/api/conversations/%s/turns/%s/events", s.url, id,
			*page.Running), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body) // until the moment is over
	return string(b)
}
