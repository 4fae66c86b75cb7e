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
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/blob"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/all"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// answered is the stream of a server that begins to answer at once.
const answered = "data: {\"choices\":[{\"delta\":{\"content\":\"so\"}}]}\n\n" +
	"data: {\"choices\":[{\"delta\":{\"content\":\" it is\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":4000,\"completion_tokens\":2,\"total_tokens\":4002}}\n\ndata: [DONE]\n\n"

// measureProvider measures what a turn adds to the time until a provider's first token,
// with a server on this machine that begins to answer at once: from the question to
// the first piece of the answer, beside the same request sent by hand.
func (b *bench) measureProvider() error {
	var body []byte // of the newest request, as it came
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body) // a request that breaks off is not measured
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, answered) // the client reads it all
	}), ReadHeaderTimeout: time.Minute}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go func() { _ = server.Serve(l) }() // ends with Close
	defer func() { _ = server.Close() }()
	s, err := b.openLoaded(1000)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	url := "http://" + l.Addr().String() + "/v1"
	return b.providerAt(s, url, &body)
}

func (b *bench) providerAt(s *store.Store, url string, body *[]byte) error {
	bucket := blob.NewMemory()
	defer func() { _ = bucket.Close() }() // in memory
	set := map[string]string{"SCROLLBACK_BASE_URL": url}
	eng := engine.New(s, archive.New(s, bucket, nil),
		engine.Options{Limit: 10_048, Model: "custom/m", NoBackgroundFolds: true,
			Models: func(name string) (model.Model, error) {
				return all.FindModel(name, func(k string) string { return set[k] }, remote.Options{})
			}})
	e := eng.As(scrollback.Operator())
	defer func() { _ = eng.Close(b.ctx) }() // it runs nothing
	const times = 40
	for r := range rounds {
		var turns, bare []time.Duration
		for i := range times {
			start := time.Now()
			took := time.Duration(0)
			failed := errors.New("no answer")
			for ev, err := range e.Turn(b.ctx, engine.TurnRequest{Conversation: conversation,
				Message: scrollback.Parts{scrollback.Text{Text: fmt.Sprintf("Question %d of round %d?", i, r)}}}) {
				if err != nil {
					return err
				}
				if _, ok := ev.(scrollback.DeltaEvent); ok && took == 0 {
					took = time.Since(start)
					failed = nil
				}
			}
			if failed != nil {
				return failed
			}
			turns = append(turns, took)
			d, err := firstFrame(url, *body)
			if err != nil {
				return err
			}
			bare = append(bare, d)
		}
		b.addNumber("the request by hand, p50", r, percentileMS(bare, 0.5), "ms")
		b.addNumber("a turn, p50", r, percentileMS(turns, 0.5), "ms")
		b.addNumber("added to the first token, p50", r, percentileMS(turns, 0.5)-percentileMS(bare, 0.5), "ms")
	}
	return nil
}

// firstFrame returns how long a request takes until the first frame of its answer.
func firstFrame(url string, body []byte) (time.Duration, error) {
	if !json.Valid(body) {
		return 0, errors.New("no request to send again")
	}
	start := time.Now()
	resp, err := http.Post(url+"/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if _, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil {
		return 0, err
	}
	took := time.Since(start)
	_, err = io.Copy(io.Discard, resp.Body)
	return took, err
}
