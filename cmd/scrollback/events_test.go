package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// events follows all conversations of a server, from after an event on if one is given.
type events struct {
	t    *testing.T
	resp *http.Response
	from *bufio.Reader
	id   string // of the last event
}

func (s *served) events(after string) *events {
	s.t.Helper()
	req, err := http.NewRequest(http.MethodGet, s.url+"/api/events", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if after != "" {
		req.Header.Set("Last-Event-ID", after)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		s.t.Fatalf("events: %v %v", resp, err)
	}
	s.t.Cleanup(func() { resp.Body.Close() })
	e := &events{t: s.t, resp: resp, from: bufio.NewReader(resp.Body)}
	e.line("id: ")
	return e
}

// line reads on to a line that begins so; it fails the test if none comes.
func (e *events) line(begin string) string {
	e.t.Helper()
	for {
		line, err := e.from.ReadString('\n')
		if err != nil {
			e.t.Fatalf("the events ended before %q: %v", begin, err)
		}
		line = strings.TrimSuffix(line, "\n")
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			e.id = id
		}
		if strings.HasPrefix(line, begin) {
			return line
		}
	}
}

// turn reads on to the next change of a turn.
func (e *events) turn() (c scrollback.Change) {
	e.t.Helper()
	for c.Type != scrollback.ChangeTurn {
		c = scrollback.Change{}
		if err := json.Unmarshal([]byte(strings.TrimPrefix(e.line("data: "), "data: ")), &c); err != nil {
			e.t.Fatal(err)
		}
	}
	return c
}

// Two servers have one folder open: each tells what is done at the other within half a
// second or so, a turn that was cut off by kill -9 is told to have ended when somebody goes
// on, and a client goes on where it was, at whichever server, also after both ended.
func TestEventsOfTwoServers(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	data := t.TempDir()
	a := serve(t, data, slices.Concat(slow, leased()))
	b := serve(t, data, slow)
	here := a.events("")
	there := b.events("")
	id := a.conversation()
	a.chat(id, fact)
	for _, e := range []*events{here, there} {
		first := e.turn()
		second := e.turn()
		if first.State != scrollback.TurnOpen || second.State != scrollback.TurnComplete || second.Messages != 2 ||
			first.TurnID != second.TurnID {
			t.Errorf("told %+v, %+v", first, second)
		}
	}
	resp := a.open(id, question)
	defer resp.Body.Close()
	began := time.Now()
	open := there.turn()
	if took := time.Since(began); open.State != scrollback.TurnOpen || took > 3*time.Second {
		t.Errorf("after %v told %+v", took, open)
	}
	firstDelta(t, resp.Body)
	a.kill()
	until(t, 30*time.Second, func() bool {
		resp, err := http.Post(fmt.Sprintf("%s/api/conversations/%s/chat", b.url, id), "application/json",
			strings.NewReader(`{"message":"go on"}`))
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		return err == nil && resp.StatusCode == http.StatusOK
	})
	if cut := there.turn(); cut.State != scrollback.TurnInterrupted || cut.TurnID != open.TurnID {
		t.Errorf("of the turn that was cut off: %+v", cut)
	}
	place := there.id // the turn that followed is not read yet
	if err := b.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	ended := time.Now()
	if err := b.cmd.Wait(); err != nil || time.Since(ended) > 5*time.Second {
		t.Errorf("with somebody following it, the server ended after %v with %v", time.Since(ended), err)
	}
	back := serve(t, data, nil).events(place)
	if next, last := back.turn(), back.turn(); next.State != scrollback.TurnOpen ||
		last.State != scrollback.TurnComplete ||
		next.TurnID == open.TurnID || next.TurnID != last.TurnID {
		t.Errorf("after %s told %+v, %+v", place, next, last)
	}
}

// What a provider sends that is not text, or nothing, reaches neither the client nor the log:
// the pieces joined are the message that is stored.
func TestBrokenDeltas(t *testing.T) {
	t.Parallel()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for _, piece := range []string{"", "a\xff\xfeb", "", "\xe6\x83", "\xb3", "\\ud83d", "\\udc0b", "\\u0000", "end", ""} {
			_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":\"%s\"}}]}\n\n", piece)
		}
		_, _ = io.WriteString(w, `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}))
	defer upstream.Close()
	s := serve(t, t.TempDir(), []string{"SCROLLBACK_BASE_URL=" + upstream.URL + "/v1", "SCROLLBACK_MODEL=custom/m"})
	id := s.conversation()
	resp := s.open(id, "hello")
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || !utf8.Valid(raw) || strings.Contains(string(raw), `"content":""`) {
		t.Errorf("the stream is\n%q, %v", raw, err)
	}
	frames, done := readFrames(t, strings.NewReader(string(raw)))
	text := ""
	for _, f := range frames {
		if f.Type == "delta" {
			if f.At != utf8.RuneCountInString(text) {
				t.Errorf("a piece at %d follows %q", f.At, text)
			}
			text += f.Content
		}
	}
	log := s.log(id)
	if !done || len(log) != 2 || log[1].Parts.Text() != text || !strings.HasSuffix(text, "end") ||
		!utf8.ValidString(text) {
		t.Errorf("read %q, stored %+v", text, log)
	}
}

// Five hundred answers at once, with a thousand connections open besides that say nothing:
// each is complete, and the memory they take is bounded.
func TestManyAtOnce(t *testing.T) {
	streams := testlength.Choose(100, 500, 500)
	idle := 2 * streams
	s := serve(t, t.TempDir(), []string{"SCROLLBACK_OFFLINE_PACE=20ms"})
	var ids []scrollback.ConversationID
	for range streams {
		ids = append(ids, s.conversation())
	}
	before := s.resident()
	for range idle {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	var all sync.WaitGroup
	for _, id := range ids {
		all.Go(func() {
			body := strings.NewReader(`{"message":"` + fact + `"}`)
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, fmt.Sprintf("%s/api/conversations/%s/chat", s.url, id),
				body)
			if err != nil {
				t.Error(err)
				return
			}
			req.Header.Set("Content-Type", "application/json")
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			text, err := io.ReadAll(resp.Body)
			if err != nil || !strings.HasSuffix(string(text), "data: [DONE]\n\n") ||
				!strings.Contains(string(text), `"status":"complete"`) {
				t.Errorf("%s: %d %v", id, resp.StatusCode, err)
			}
		})
	}
	all.Wait()
	if before > 0 {
		grown := s.resident() - before
		t.Logf("%d streams and %d idle connections: %d KB more at the most", streams, idle, grown/1024)
		if grown > 150<<20 {
			t.Errorf("the server grew by %d MB", grown>>20)
		}
	}
}

// resident returns the most memory that the server has had, in bytes; 0 where the system does not say.
func (s *served) resident() int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kb int64
	_, _ = fmt.Sscan(rest, &kb)
	return kb * 1024
}
