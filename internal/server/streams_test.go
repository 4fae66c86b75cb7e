package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// pipes is a listener whose connections hold nothing: what one side writes, the other has
// to read. Time passes by itself while all wait.
type pipes struct {
	dialed chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.dialed:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { p.once.Do(func() { close(p.closed) }); return nil }

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// streaming is a server in a bubble of time.
type streaming struct {
	*enginetest.Rig
	t   *testing.T
	via *pipes
}

func newStreaming(t *testing.T, steps ...modeltest.Step) *streaming {
	t.Helper()
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, steps...)
	via := &pipes{dialed: make(chan net.Conn), closed: make(chan struct{})}
	o := server.Options{Version: "test", Log: slog.New(slog.DiscardHandler)}
	srv := &http.Server{Handler: server.Handler(r.Engine, r.Transfer, o, true), ReadHeaderTimeout: 10 * time.Second}
	go srv.Serve(via)
	t.Cleanup(func() { srv.Close() })
	return &streaming{r, t, via}
}

// client is a connection to the server.
type client struct {
	net.Conn
	t    *testing.T
	from *bufio.Reader
}

func (s *streaming) dial() *client {
	here, there := net.Pipe()
	s.via.dialed <- there
	s.t.Cleanup(func() { here.Close() })
	return &client{here, s.t, bufio.NewReader(here)}
}

// send writes a request, whose body may be shorter than it says.
func (c *client) send(method, path, body string, length int, headers ...string) {
	c.t.Helper()
	head := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n",
		method, path, length)
	for _, h := range headers {
		head += h + "\r\n"
	}
	if _, err := io.WriteString(c, head+"\r\n"+body); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) chat(id scrollback.ConversationID) {
	const body = `{"message":"tell me"}`
	c.send("POST", fmt.Sprintf("/api/conversations/%s/chat", id), body, len(body))
}

// lines reads the answer's lines until one begins with last, or to the end.
func (c *client) lines(last string) (out []string) {
	for {
		line, err := c.from.ReadString('\n')
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			out = append(out, line)
		}
		if err != nil || last != "" && strings.HasPrefix(line, last) {
			return out
		}
	}
}

func (s *streaming) reply(id scrollback.ConversationID) scrollback.Message {
	s.t.Helper()
	ms, _, err := s.Messages(context.Background(), id, scrollback.PageQuery{})
	if err != nil || len(ms) != 2 {
		s.t.Fatalf("%d messages, %v", len(ms), err)
	}
	return ms[1]
}

// A client that reads nothing holds up neither its turn nor anybody else, and is cut off.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreaming(t, modeltest.Say(strings.Split(strings.Repeat("a long answer ", 100), " ")...))
		stuck := s.NewConversation()
		other := s.NewConversation()
		began := time.Now()
		deaf := s.dial()
		deaf.chat(stuck)
		watching := s.dial()
		watching.send("GET", "/api/events", "", 0)
		quick := s.dial()
		quick.chat(other)
		if got := quick.lines("data: [DONE]"); !strings.HasPrefix(got[len(got)-1], "data: [DONE]") {
			t.Errorf("another's stream ends with %q", got[len(got)-1])
		}
		synctest.Wait()
		if m := s.reply(stuck); m.Status != scrollback.StatusComplete || time.Since(began) != 0 {
			t.Errorf("after %v, the answer that nobody reads is %s", time.Since(began), m.Status)
		}
		for what, c := range map[string]*client{"chat": deaf, "events": watching} {
			time.Sleep(time.Until(began.Add(31 * time.Second)))
			synctest.Wait()
			if got := c.lines(""); len(got) > 20 {
				t.Errorf("%s: it was not cut off: %d lines", what, len(got))
			}
		}
	})
}

// An answer may take as long as its model does, however little time there is to send a
// request; and a silent stream shows that it is alive.
func TestLongAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		step := modeltest.Say("slow", " but", " sure")
		step.Gate = gate
		s := newStreaming(t, step)
		go func() {
			for range 3 {
				time.Sleep(5 * time.Minute)
				gate <- struct{}{}
			}
			close(gate)
		}()
		id := s.NewConversation()
		c := s.dial()
		c.chat(id)
		got := strings.Join(c.lines("data: [DONE]"), "\n")
		if !strings.Contains(got, `"content":" sure"`) || !strings.Contains(got, "[DONE]") ||
			strings.Count(got, ": still here") < 50 {
			t.Errorf("the stream of 15 minutes was\n%s", got)
		}
	})
}

// A client that sends half a request, or a byte now and then, is given up after a minute.
func TestHalfABody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreaming(t, modeltest.Say("hello"))
		id := s.NewConversation()
		began := time.Now()
		half := s.dial()
		drop := s.dial()
		for _, c := range []*client{half, drop} {
			c.send("POST", fmt.Sprintf("/api/conversations/%s/chat", id), `{"message":`, 1000)
		}
		var dripping sync.WaitGroup
		dripping.Go(func() {
			for range 30 {
				time.Sleep(5 * time.Second)
				if _, err := io.WriteString(drop, " "); err != nil {
					return
				}
			}
		})
		for what, c := range map[string]*client{"half a body": half, "a byte now and then": drop} {
			got := strings.Join(c.lines(""), "\n")
			if took := time.Since(began); took > 61*time.Second || !strings.Contains(got, "400") ||
				!strings.Contains(got, "ended early") {
				t.Errorf("%s: after %v %q", what, took, got)
			}
		}
		drop.Close()
		dripping.Wait()
	})
}

// The client goes away after each event in turn: the answer is complete in the store, and
// a client that reconnects with the number of that event gets exactly what it missed, once.
func TestKilledAtEveryEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		step := modeltest.Step{Deltas: []model.Delta{{Reasoning: "let me"}, {Reasoning: ""}, {Reasoning: " 想想"}, {Text: "一"},
			{Text: ""},
			{Text: "b 🐋"}, {}, {Text: "\n"}, {Text: "end"}}}
		s := newStreaming(t, step)
		events := 100
		for k := 1; k <= events; k++ {
			id := s.NewConversation()
			c := s.dial()
			c.chat(id)
			seen := c.lines(fmt.Sprintf("id: %d", k))
			seen = append(seen, c.lines("data: ")...)
			c.Close()
			synctest.Wait() // the turn ends without it
			m := s.reply(id)
			var begun scrollback.TurnID
			for _, line := range seen {
				if _, rest, ok := strings.Cut(line, `"turn_id":"`); ok && begun == "" {
					begun = scrollback.TurnID(rest[:36])
				}
			}
			again := s.dial()
			again.send("GET", fmt.Sprintf("/api/conversations/%s/turns/%s/events", id, begun), "", 0,
				fmt.Sprintf("Last-Event-ID: %d", k), "Connection: close")
			rest := again.lines("")
			again.Close()
			if k == events && !strings.Contains(rest[0], "204") {
				t.Errorf("after the last event: %q", rest)
			}
			if strings.Contains(rest[0], "204") {
				events = k // that was the last
				continue
			}
			all := append(seen, rest...)
			if got := said(t, all, "delta"); got != m.Parts.Text() || m.Parts.Text() != "一b 🐋\nend" {
				t.Errorf("cut at %d: read %q, stored %q", k, got, m.Parts.Text())
			}
			if got := said(t, all, "reasoning"); got != "let me 想想" {
				t.Errorf("cut at %d: read the reasoning %q", k, got)
			}
			if strings.Contains(strings.Join(all, "\n"), `"content":""`) {
				t.Errorf("cut at %d: there is an event without content in\n%s", k, strings.Join(all, "\n"))
			}
		}
		if events < 10 || events == 100 {
			t.Errorf("%d events", events)
		}
	})
}

// said joins the pieces of one type, each of which must follow the one before.
func said(t *testing.T, lines []string, kind string) (text string) {
	t.Helper()
	for _, line := range lines {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok || !strings.Contains(data, `"type":"`+kind+`"`) {
			continue
		}
		var piece struct {
			Content string
			At      int
		}
		if err := json.Unmarshal([]byte(data), &piece); err != nil {
			t.Fatal(err)
		}
		if piece.At != utf8.RuneCountInString(text) {
			t.Errorf("a piece at %d follows %q", piece.At, text)
		}
		text += piece.Content
	}
	return text
}

// The stream of all conversations says at once that it is there, tells what happens, goes on
// from where its reader left it, carries its place while nothing happens, and ends with the
// engine.
func TestEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreaming(t, modeltest.Say("hello"))
		c := s.dial()
		c.send("GET", "/api/events", "", 0)
		head := c.lines("id: ")
		if got := strings.Join(head, "\n"); !strings.Contains(got, "200 OK") || !strings.Contains(got, "text/event-stream") ||
			!strings.Contains(got, ": connected") || !strings.HasSuffix(got, "id: 0") {
			t.Fatalf("it begins with\n%s", got)
		}
		id := s.NewConversation()
		began := time.Now()
		got := strings.Join(c.lines("data: "), "\n")
		if !strings.Contains(got, `"type":"conversation"`) || !strings.Contains(got, string(id)) || time.Since(began) != 0 {
			t.Errorf("after %v it says %s", time.Since(began), got)
		}
		asked := s.dial()
		asked.chat(id)
		asked.lines("data: [DONE]")
		got = strings.Join(c.lines("id: 3"), "\n") + strings.Join(c.lines("data: "), "\n")
		for _, want := range []string{`"type":"message"`, `"last_seq":2`, `"type":"turn"`, `"state":"complete"`,
			`"title":"tell me"`} {
			if !strings.Contains(got, want) {
				t.Errorf("there is no %s in\n%s", want, got)
			}
		}
		if strings.Contains(got, "hello") {
			t.Errorf("what was said is in\n%s", got)
		}
		if got := strings.Join(c.lines("id: "), "\n"); !strings.Contains(got, ": still here\nid: 3") ||
			time.Since(began) > 16*time.Second {
			t.Errorf("after %v of silence: %s", time.Since(began), got)
		}
		back := s.dial()
		back.send("GET", "/api/events?after=1", "", 0, "Last-Event-ID: 2")
		if got := strings.Join(back.lines(`data: {"type":"turn"`), "\n"); !strings.Contains(got, `"state":"complete"`) ||
			strings.Contains(got, `"open"`) || strings.Count(got, "data:") != 2 {
			t.Errorf("after the second: %s", got)
		}
		lost := s.dial()
		lost.send("GET", "/api/events", "", 0, "Last-Event-ID: nonsense")
		if got := lost.lines("data: "); got[len(got)-1] != `data: {"type":"reset"}` || got[len(got)-2] != "id: 3" {
			t.Errorf("of an unknown place: %q", got)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := c.lines("0"); time.Since(began) > time.Minute {
			t.Errorf("it goes on after its engine: %q", got)
		}
	})
}
