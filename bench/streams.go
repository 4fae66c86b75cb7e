//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// upstream is a provider on this machine: it begins to answer at once, and goes on
// with a word ten times a second if it is asked to talk, or says nothing more if it is asked to
// hold, until it is released.
type upstream struct {
	url      string
	body     atomic.Value // of the newest request, as it came
	mu       sync.Mutex
	released chan struct{}
}

func newUpstream() (*upstream, func() error, error) {
	u := &upstream{released: make(chan struct{})}
	server := &http.Server{Handler: u, ReadHeaderTimeout: time.Minute}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	go func() { _ = server.Serve(l) }() // ends with Close
	u.url = "http://" + l.Addr().String() + "/v1"
	return u, server.Close, nil
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // a request that breaks off is not measured
	u.body.Store(body)
	w.Header().Set("Content-Type", "text/event-stream")
	first, rest, _ := strings.Cut(answered, "\n\n")
	send := func(text string) {
		_, _ = io.WriteString(w, text+"\n\n") // the client reads it all, or is gone
		_ = http.NewResponseController(w).Flush()
	}
	send(first)
	hold := bytes.Contains(body, []byte("please hold"))
	talk := bytes.Contains(body, []byte("please talk"))
	u.mu.Lock()
	released := u.released
	u.mu.Unlock()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for hold || talk {
		select {
		case <-released:
			hold = false
			talk = false
		case <-tick.C:
			if talk {
				send(first)
			}
		}
	}
	_, _ = io.WriteString(w, rest)
}

// releaseAll lets all answers end.
func (u *upstream) releaseAll() {
	u.mu.Lock()
	defer u.mu.Unlock()
	close(u.released)
	u.released = make(chan struct{})
}

// streaming is a running program, asked from outside.
type streaming struct {
	bench *bench
	url   string
	pid   int
	u     *upstream
}

// measureStreams measures what the server adds to a provider's first token, and what many streams
// at once cost.
func measureStreams(b *bench) error {
	path, err := b.buildProgram()
	if err != nil {
		return err
	}
	u, stop, err := newUpstream()
	if err != nil {
		return err
	}
	defer func() { _ = stop() }()
	for _, n := range []int{10, b.mid} {
		s, err := b.openLoaded(n)
		if err == nil {
			err = s.Close()
		}
		if err == nil {
			err = (&streaming{bench: b, u: u}).startServer(path, fmt.Sprint("messages-", n),
				func(s *streaming) error { return s.firstTokens(n) })
		}
		if err != nil {
			return err
		}
	}
	for _, events := range []bool{true, false} {
		if err := (&streaming{bench: b, u: u}).startServer(path, "streams",
			func(s *streaming) error { return s.measureMemory(events) }); err != nil {
			return err
		}
	}
	return (&streaming{bench: b, u: u}).startServer(path, "streams", (*streaming).measureBeside)
}

// startServer runs the program over a data folder while something is measured.
func (b *streaming) startServer(path, name string, measure func(*streaming) error) (err error) {
	cmd := exec.CommandContext(b.bench.ctx, path, "serve", "--addr", "127.0.0.1:0", "--data",
		filepath.Dir(b.bench.databaseFile(name)))
	cmd.Env = append(os.Environ(), "SCROLLBACK_BASE_URL="+b.u.url, "SCROLLBACK_MODEL=custom/m")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, cmd.Process.Signal(os.Interrupt))
		_ = cmd.Wait() // ended by us
	}()
	for lines := bufio.NewScanner(out); b.url == "" && lines.Scan(); {
		_, b.url, _ = strings.Cut(lines.Text(), "scrollback is at ")
	}
	b.pid = cmd.Process.Pid
	return measure(b)
}

// firstTokens compares the first token of a turn over HTTP with that of the same request sent
// to the provider by hand.
func (b *streaming) firstTokens(n int) error {
	at := b.url + "/api/conversations/" + string(conversation)
	req, err := http.NewRequestWithContext(b.bench.ctx, http.MethodPatch, at,
		strings.NewReader(`{"model":"custom/m","limit":10048}`))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	_ = resp.Body.Close() // what was wrong shows in the turns
	for r := range rounds + 1 {
		var turns, bare []time.Duration
		for i := range 40 {
			start := time.Now()
			s, err := openStream(b.bench.ctx, b.url, string(conversation), fmt.Sprintf("Question %d of round %d?", i, r))
			if err != nil {
				return err
			}
			turns = append(turns, time.Since(start))
			if err := s.drainEvents(); err != nil {
				return err
			}
			body, _ := b.u.body.Load().([]byte)
			d, err := firstFrame(b.u.url, body)
			if err != nil {
				return err
			}
			bare = append(bare, d)
		}
		if r == 0 {
			continue // what was not compacted yet is now
		}
		added := percentileMS(turns, 0.5) - percentileMS(bare, 0.5)
		b.bench.addNumber("provider by hand, p50", r-1, percentileMS(bare, 0.5), "ms")
		b.bench.addNumber("first token over HTTP at "+formatCount(n)+", p50", r-1, percentileMS(turns, 0.5), "ms")
		b.bench.addNumber("added to the first token at "+formatCount(n)+", p50", r-1, added, "ms")
	}
	return nil
}

// stream is a stream of the server after its first token, or its first line.
type stream struct {
	body io.ReadCloser
	from *bufio.Reader
}

// openStream begins a turn, or without a conversation follows all.
func openStream(ctx context.Context, url, id, message string) (*stream, error) {
	method := http.MethodGet
	path := "/api/events"
	until := "retry:"
	var body io.Reader
	if id != "" {
		method = http.MethodPost
		path = "/api/conversations/" + id + "/chat"
		until = `"type":"delta"`
		text, err := json.Marshal(map[string]string{"message": message})
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, url+path, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	s := &stream{resp.Body, bufio.NewReader(resp.Body)}
	for line := ""; !strings.Contains(line, until); {
		if line, err = s.from.ReadString('\n'); err != nil {
			return nil, errors.Join(fmt.Errorf("%s %s: %d %s: %w", method, path, resp.StatusCode, line, err), resp.Body.Close())
		}
	}
	return s, nil
}

func (s *stream) drainEvents() error {
	_, err := io.Copy(io.Discard, s.from)
	return errors.Join(err, s.body.Close())
}

// mostStreams is how many streams are open at the most.
const mostStreams = 500

// makeTalks returns the ids of conversations, made if they are not there.
func makeTalks(url string) (ids []string, err error) {
	for i := range mostStreams {
		id := fmt.Sprintf("01a00000-0000-7000-8000-%012d", i)
		if _, err := sendRequest(url+"/api/conversations", []byte(`{"id":"`+id+`"}`)); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// measureBeside measures what a reader of the list gets done beside open streams.
func (b *streaming) measureBeside() error {
	ids, err := makeTalks(b.url)
	if err != nil {
		return err
	}
	for r := range rounds {
		for _, n := range []int{1, 50, mostStreams} {
			end, err := b.openMany(ids[:n], "please talk")
			if err != nil {
				return err
			}
			rate, err := requestRate(b.url)
			if err := errors.Join(err, end()); err != nil {
				return err
			}
			b.bench.addNumber(fmt.Sprintf("beside %d streams", n), r, rate, "requests/s")
		}
	}
	return nil
}

// measureMemory measures what open streams take in a server that has had none before but a few.
func (b *streaming) measureMemory(events bool) error {
	name := "a stream of all events"
	ids := make([]string, mostStreams+few)
	if !events {
		name = "a stream of a chat"
		var err error
		if ids, err = makeTalks(b.url); err != nil {
			return err
		}
	}
	first, err := b.openMany(ids[:few], "please hold")
	if err != nil {
		return err
	}
	before, err := residentMemory(b.pid)
	if err != nil {
		return err
	}
	others, err := b.openMany(ids[few:], "please hold")
	if err != nil {
		return err
	}
	after, err := residentMemory(b.pid)
	if err := errors.Join(err, others(), first()); err != nil {
		return err
	}
	b.bench.addNumber("memory of "+name, 0, (after-before)/float64(len(ids)-few), "KB")
	return nil
}

// few streams are open before the memory of many is measured.
const few = 20

// openMany opens streams and returns what ends them.
func (b *streaming) openMany(ids []string, message string) (end func() error, err error) {
	open := make([]*stream, len(ids))
	errs := make([]error, len(ids))
	var wait sync.WaitGroup
	for i, id := range ids {
		wait.Go(func() { open[i], errs[i] = openStream(b.bench.ctx, b.url, id, message) })
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	for i, id := range ids {
		if id != "" {
			wait.Go(func() { errs[i] = open[i].drainEvents() })
		}
	}
	return func() error {
		b.u.releaseAll()
		for i, id := range ids {
			if id == "" {
				errs[i] = open[i].body.Close()
			}
		}
		wait.Wait()
		return errors.Join(errs...)
	}, nil
}

// requestRate returns how often four readers get the newest conversations in a second.
func requestRate(url string) (float64, error) {
	const workers, lasting = 4, time.Second
	var done atomic.Int64
	errs := make([]error, workers)
	var wait sync.WaitGroup
	start := time.Now()
	for i := range workers {
		wait.Go(func() {
			for time.Since(start) < lasting && errs[i] == nil {
				_, errs[i] = sendRequest(url+"/api/conversations?limit=20", nil)
				done.Add(1)
			}
		})
	}
	wait.Wait()
	return float64(done.Load()) / time.Since(start).Seconds(), errors.Join(errs...)
}

// residentMemory returns the memory, in KB, that a process has resident.
func residentMemory(pid int) (kb float64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	_, err = fmt.Sscan(rest, &kb)
	return kb, err
}
