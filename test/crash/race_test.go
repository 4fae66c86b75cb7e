package crash_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// racer does things to one conversation through one server.
type racer struct {
	client
	id   scrollback.ConversationID
	mu   *sync.Mutex
	done map[string]int
}

func (c *racer) did(act string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done[act]++
}

// fold folds by hand, now and then everything, now and then back.
func (c *racer) fold() {
	at := fmt.Sprintf("/api/conversations/%s/", c.id)
	act := "compact"
	body := any(map[string]any{"force": true})
	switch c.rng.IntN(10) {
	case 0:
		act = "clear"
		body = map[string]any{}
	case 1, 2:
		act = "uncompact"
		body = map[string]any{}
	}
	var r scrollback.Receipt
	switch status, ok := c.post(at+act, body, &r); {
	case ok:
		c.did(act + " " + string(r.Result))
	case status == 404 && act == "uncompact", status == 409:
		c.did(fmt.Sprint(act, " ", status))
	default:
		c.did(fmt.Sprint("fault: ", act, " ", status))
	}
}

// back goes a few messages back, which is refused while a turn is answered.
func (c *racer) back(s *served) {
	conv := get[scrollback.Conversation](s, fmt.Sprintf("/api/conversations/%s", c.id))
	switch status, _ := c.post(fmt.Sprintf("/api/conversations/%s/rewind", c.id),
		map[string]any{"seq": max(0, conv.Messages-int64(c.rng.IntN(6)))}, &conv); status {
	case 200, 400, 409: // 400: somebody else went further back meanwhile
		c.did(fmt.Sprint("rewind ", status))
	default:
		c.did(fmt.Sprint("fault: rewind ", status))
	}
}

// Two servers and commands beside them chat on one conversation, fold it, fold
// everything, take folds back and go back, all at once: nothing that was acknowledged
// is lost, what is folded and what is live are the path, and the check finds nothing.
func TestFoldsRaceAcrossProcesses(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	servers := []*served{serve(t, data, nil, "--limit", "3000"), serve(t, data, nil, "--limit", "3000")}
	id := servers[0].conversation()
	p := &promises{messages: map[scrollback.ConversationID]map[scrollback.MessageID]bool{},
		length: map[scrollback.ConversationID]int64{},
		acts:   map[string]int{}}
	var mu sync.Mutex
	done := map[string]int{}
	racerAt := func(i int) *racer {
		return &racer{client: client{url: servers[i%2].url, p: p, rng: rand.New(rand.NewPCG(uint64(i), 3))}, id: id, mu: &mu,
			done: done}
	}
	ctx, over := context.WithCancel(t.Context())
	var chatters, others sync.WaitGroup
	for i := range 2 {
		c := racerAt(i)
		chatters.Go(func() {
			for range 60 {
				c.chat(id)
			}
		})
	}
	for i := range 4 {
		c := racerAt(10 + i)
		others.Go(func() {
			for ctx.Err() == nil {
				if i == 3 {
					c.back(servers[1])
				} else {
					c.fold()
				}
			}
		})
	}
	others.Go(func() {
		for ctx.Err() == nil {
			out, err := command(t, data, nil, "--limit", "3000", "compact", string(id), "--force", "--json").Output()
			var r scrollback.Receipt
			if err != nil || json.Unmarshal(out, &r) != nil {
				t.Errorf("the command ends with %v: %s", err, out)
				return
			}
			mu.Lock()
			done["command "+string(r.Result)]++
			mu.Unlock()
		}
	})
	chatters.Wait()
	over()
	others.Wait()
	t.Logf("%v; %v", p.acts, done)
	for act, n := range done {
		if strings.HasPrefix(act, "fault") {
			t.Errorf("%d times %s", n, act)
		}
	}
	if p.acts["answer"] < 10 || done["compact compacted"] < 5 || done["rewind 200"] < 5 {
		t.Errorf("too little was done at once: %v; %v", p.acts, done)
	}
	for _, s := range servers {
		p.kept(t, s)
		s.isWhole(id)
	}
	servers[0].chat(id, "Is everything still there?")
	servers[0].settled(id)
	servers[1].isWhole(id)
	if code, c := checkup(t, data); code != 0 || !c.OK {
		t.Errorf("the check finds %+v", c.Problems)
	}
}

// isWhole holds what is folded and what is live against the path, and reads every ref.
func (s *served) isWhole(id scrollback.ConversationID) {
	s.t.Helper()
	conv := get[scrollback.Conversation](s, fmt.Sprintf("/api/conversations/%s", id))
	for i, m := range s.log(id) {
		if first := max(1, conv.Messages-199); m.Seq != first+int64(i) {
			s.t.Fatalf("#%d stands where #%d should", m.Seq, first+int64(i))
		}
	}
	next := int64(1)
	m := get[scrollback.Manifest](s, fmt.Sprintf("/api/conversations/%s/context", id))
	for _, x := range m.Excluded {
		if x.Ref == nil {
			continue
		}
		if x.FirstSeq != next {
			s.t.Fatalf("the folded runs jump from #%d to #%d", next-1, x.FirstSeq)
		}
		next = x.LastSeq + 1
	}
	for _, l := range m.Layers {
		for _, it := range l.Items {
			if it.Seq >= next && it.Kind == scrollback.KindMessage {
				if it.Seq != next {
					s.t.Fatalf("#%d is live where #%d should be", it.Seq, next)
				}
				next++
			}
		}
	}
	if next != conv.Messages+1 {
		s.t.Fatalf("the window ends at #%d of %d", next-1, conv.Messages)
	}
	for _, r := range allRefs(s, id) {
		if got := readAll(s.t, s, id, r.Ref); int64(len(got)) != r.Bytes {
			s.t.Fatalf("%s has %d bytes, and says %d", r.Ref, len(got), r.Bytes)
		}
	}
}
