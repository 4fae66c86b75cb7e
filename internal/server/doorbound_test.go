package server_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"
	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/door"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/local"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/anthropic"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/modeltest/anthropicapi"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// thinkingModel thinks before it answers what was recorded.
type thinkingModel struct{ playedModel }

func (p *thinkingModel) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		if !yield(model.Delta{Reasoning: fmt.Sprintf("Number %d.", p.now.Load().Number)}, nil) {
			return
		}
		p.playedModel.Stream(ctx, r)(yield)
	}
}

// forgetfulModel is a model's client that remembers nothing of what the server has refused: it is told each time.
type forgetfulModel struct{ *anthropic.Model }

func (m forgetfulModel) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Delta, error] {
	r.Learned = scrollback.Learned{}
	return m.Model.Stream(ctx, r)
}

// TestBoundThinking plays what real clients sent to a model whose thinking is refused once anything before it has
// changed, with windows of ours and our tools: what we do changes nothing before thinking that is sent.
func TestBoundThinking(t *testing.T) {
	testlength.SkipShort(t)
	back := atomic.Int64{}
	t.Run("clients", func(t *testing.T) {
		for client, all := range readRecordings(t) {
			t.Run(client, func(t *testing.T) { back.Add(playBound(t, all)) })
		}
	})
	if back.Load() < 200 {
		t.Errorf("only %d requests sent thinking back", back.Load())
	}
}

// playBound plays what a client sent, and returns how many requests sent thinking back.
func playBound(t *testing.T, all []recording) (back int64) {
	played := &thinkingModel{}
	stand := anthropicapi.New(played, &anthropicapi.Options{Key: "k"})
	up := httptest.NewServer(stand)
	defer up.Close()
	bound := forgetfulModel{anthropic.New(remote.Endpoint{Name: "played", Model: "claude-opus-5-5", BaseURL: up.URL,
		Options: remote.Options{Key: "k"}})}
	sb, err := local.Open(t.Context(), t.TempDir(), &local.Options{Database: "memory:", Model: "played",
		Models: map[string]model.Model{"played": bound}})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(server.Handler(sb.Engine, sb.Transfer, server.Options{Version: "test",
		Log: slog.New(slog.DiscardHandler), DoorBytes: 32 << 20,
		Door: door.New(door.Options{Mode: door.ModeWindow, Recall: door.RecallAlways})}, true))
	defer func() {
		srv.Close()
		if err := sb.Close(); err != nil {
			t.Error(err)
		}
	}()
	ids := strings.NewReplacer()
	var known []string
	sockets := map[string]*websocket.Conn{}
	judge := boundJudge{stand: stand}
	for i := range all {
		played.now.Store(&all[i])
		var answer string
		if isSocket(&all[i]) {
			_, answer = playOnSocket(t, sb, srv.URL, &all[i], ids, sockets)
		} else {
			_, answer = playRecording(t, srv.URL, &all[i], ids)
		}
		for _, fault := range judge.judgeNew(t) {
			t.Errorf("%s #%d: %s", all[i].Flow, all[i].Number, fault)
		}
		if id := answerIDs.FindString(answer); id != "" && all[i].Answer.ID != "" {
			known = append(known, all[i].Answer.ID, id)
			ids = strings.NewReplacer(known...)
		}
	}
	return judge.back
}

// boundJudge looks at what a stand-in has refused.
type boundJudge struct {
	stand  *modeltest.Strict
	bodies int
	fronts []string // what stood before the messages of each answer, from the first
	back   int64
}

// blockAt finds a block in the words of a refusal.
var blockAt = regexp.MustCompile(`^messages\.(\d+)\.content\.(\d+):`)

// judgeNew returns what was refused since it was last asked, other than thinking before which the client itself has
// changed its instructions or tools since it was made.
func (j *boundJudge) judgeNew(t *testing.T) (faults []string) {
	t.Helper()
	bodies := j.stand.Bodies()
	refused := map[int]modeltest.Refused{}
	for _, r := range j.stand.Refusals() {
		refused[r.Body] = r
	}
	for ; j.bodies < len(bodies); j.bodies++ {
		var body struct {
			System, Tools json.RawMessage
			Messages      []struct{ Content []struct{ Signature string } }
		}
		raw := bytes.ReplaceAll(bodies[j.bodies], []byte(`,"cache_control":{"type":"ephemeral"}`), nil)
		if err := json.Unmarshal(raw, &body); err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(raw, []byte(`"signature"`)) {
			j.back++
		}
		front := string(body.System) + string(body.Tools)
		why, is := refused[j.bodies]
		if !is {
			j.fronts = append(j.fronts, front)
			continue
		}
		if at := blockAt.FindStringSubmatch(why.Words); why.Rule == "bound" && at != nil {
			m, _ := strconv.Atoi(at[1])
			n, _ := strconv.Atoi(at[2])
			signed, err := base64.StdEncoding.DecodeString(body.Messages[m].Content[n].Signature)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := strconv.Atoi(strings.Split(string(signed), "/")[1])
			if err == nil && j.fronts[answer-1] != front {
				continue
			}
		}
		faults = append(faults, why.Rule+": "+why.Words)
	}
	return faults
}
