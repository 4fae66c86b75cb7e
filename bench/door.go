//go:build linux

package main

import (
	"bufio"
	"bytes"
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
	"time"
)

// doorMessage is a message of a client's history.
type doorMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// measureDoor measures what the open door adds to a client's request: the time until the first byte of an answer that a
// provider on this machine begins at once, asked directly and through the program, with a short history and a long one
// that is sent again each time; and the bytes that are added to the answer.
func (b *bench) measureDoor() error {
	upstream := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // a request that breaks off is not measured
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, answered) // the client reads it all
	}), ReadHeaderTimeout: time.Minute}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go func() { _ = upstream.Serve(l) }() // ends with Close
	defer func() { _ = upstream.Close() }()
	direct := "http://" + l.Addr().String() + "/v1"
	path, err := b.buildProgram()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(b.dir, "door-")
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(b.ctx, path, "serve", "--addr", "127.0.0.1:0", "--data", filepath.Join(dir, "data"))
	cmd.Env = append(os.Environ(), "OPENAI_BASE_URL="+direct, "OPENAI_API_KEY=k", "SCROLLBACK_TITLES=prompt")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt) // ended by us
		_ = cmd.Wait()
	}()
	through := ""
	for lines := bufio.NewScanner(out); through == "" && lines.Scan(); {
		_, through, _ = strings.Cut(lines.Text(), "scrollback is at ")
	}
	for _, n := range []int{10, 2000} {
		if err := b.doorAt(direct, through+"/v1", n); err != nil {
			return err
		}
	}
	return nil
}

// doorAt measures with histories that begin at n messages.
func (b *bench) doorAt(direct, through string, n int) error {
	w := newWriter(uint64(n))
	var history []doorMessage
	for i := range n {
		history = append(history, doorMessage{[]string{"user", "assistant"}[i%2], w.makeText(300)})
	}
	const times = 20
	for r := range rounds + 1 { // the first stores the history
		var bare, over []time.Duration
		for i := range times {
			history = append(history, doorMessage{"user", fmt.Sprintf("Question %d of round %d?", i, r)})
			body, err := json.Marshal(map[string]any{"model": "gpt-5", "stream": true, "messages": history})
			if err != nil {
				return err
			}
			took, plain, err := firstByte(direct, body)
			if err != nil {
				return err
			}
			bare = append(bare, took)
			took, ours, err := firstByte(through, body)
			if err != nil {
				return err
			}
			over = append(over, took)
			if ours != plain {
				b.addNumber("bytes added to an answer", r, float64(ours-plain), "bytes")
			}
			history = append(history, doorMessage{"assistant", "so it is"})
		}
		if r > 0 {
			b.addNumber(fmt.Sprintf("first byte, directly, %d messages", n), r, percentileMS(bare, 0.5), "ms")
			b.addNumber(fmt.Sprintf("first byte, through the door, %d messages", n), r, percentileMS(over, 0.5), "ms")
		}
	}
	return nil
}

// firstByte asks for an answer, and returns how long its first byte took and how many bytes it has.
func firstByte(base string, body []byte) (time.Duration, int, error) {
	start := time.Now()
	resp, err := http.Post(base+"/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = resp.Body.Close() }() // it is read
	if resp.StatusCode != http.StatusOK {
		return 0, 0, errors.New(resp.Status)
	}
	first := make([]byte, 1)
	if _, err := io.ReadFull(resp.Body, first); err != nil {
		return 0, 0, err
	}
	took := time.Since(start)
	rest, err := io.ReadAll(resp.Body)
	return took, 1 + len(rest), err
}
