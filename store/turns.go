package store

import (
	"bytes"
	"context"
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/terms"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// Incoming is a message before the log has it. The store gives what is missing:
// id, time, status, weight. Index is text that finds the message beyond its own
// (that of its artifacts); Mentions are its artifacts.
type Incoming struct {
	scrollback.Message
	Index    string
	Mentions []scrollback.Artifact
}

// Bounds of what is indexed of one message.
const (
	maxIndexTerms = 16_000
	MaxIndexBytes = 256 << 10 // of artifact text
)

// entries makes rows of messages. What each weighs and is found by takes most of the
// time of an import, so many are done at once.
func (s *Store) entries(in []Incoming, turn scrollback.TurnID) []driver.Entry {
	out := make([]driver.Entry, len(in))
	now := s.Now()
	for i := range in {
		m := in[i].Message
		if m.ID == "" {
			m.ID = scrollback.MessageID(s.newID())
		}
		if m.CreatedAt == 0 {
			m.CreatedAt = now
		}
		if m.Status == "" {
			m.Status = scrollback.StatusComplete
		}
		if m.TurnID == "" {
			m.TurnID = turn
		}
		if m.Usage != nil {
			if u, wrong := m.Usage.Checked(); wrong {
				m.Usage = &u
			}
		}
		out[i] = driver.Entry{Message: m, Mentions: in[i].Mentions}
	}
	workers := min(runtime.GOMAXPROCS(0), len(in)/minShare)
	if workers < 2 {
		s.measure(in, out)
		return out
	}
	var measured sync.WaitGroup
	for w := range workers {
		from, to := w*len(in)/workers, (w+1)*len(in)/workers
		measured.Go(func() { s.measure(in[from:to], out[from:to]) })
	}
	measured.Wait()
	return out
}

// minShare is how many messages are worth a goroutine.
const minShare = 16

// measure fills in what rows weigh and are found by.
func (s *Store) measure(in []Incoming, out []driver.Entry) {
	for i := range out {
		m := &out[i].Message
		compact(m.Parts)
		m.Weight = s.Weigh(m.Parts)
		m.Tokens = int(m.Weight.Tokens)
		out[i].Terms = terms.Join(IndexText(m.Parts)+"\n"+in[i].Index, maxIndexTerms)
	}
}

// compact puts the payloads of parts as they are read back, without the space between
// tokens, in place: what is weighed and sent at once is then what is read later.
func compact(parts scrollback.Parts) {
	for i, p := range parts {
		switch p := p.(type) {
		case scrollback.ToolCall:
			if p.Arguments == nil {
				p.Arguments = json.RawMessage("null")
			}
			p.Arguments, p.Opaque = plain(p.Arguments), plain(p.Opaque)
			parts[i] = p
		case scrollback.Text:
			p.Opaque = plain(p.Opaque)
			parts[i] = p
		case scrollback.Image:
			p.Opaque = plain(p.Opaque)
			parts[i] = p
		case scrollback.File:
			p.Opaque = plain(p.Opaque)
			parts[i] = p
		case scrollback.ToolResult:
			p.Opaque = plain(p.Opaque)
			parts[i] = p
		case scrollback.Reasoning:
			p.Opaque = plain(p.Opaque)
			parts[i] = p
		}
	}
}

// plain is raw without the space between its tokens; what is no JSON stays.
func plain(raw json.RawMessage) json.RawMessage {
	var buf bytes.Buffer
	if len(raw) == 0 || json.Compact(&buf, raw) != nil {
		return raw
	}
	return buf.Bytes()
}

// messageOverhead is what a message costs a window beside its parts.
const messageOverhead = 4

// Weigh is the load of parts on a window: o200k tokens, bytes on the wire, and
// images.
func (s *Store) Weigh(parts scrollback.Parts) scrollback.Weight {
	w := scrollback.Weight{Tokens: messageOverhead, Bytes: 16}
	text := func(t string) {
		w.Tokens += int64(s.count(t))
		w.Bytes += int64(len(t))
	}
	opaque := func(o scrollback.Opaque) { // base64 for the most part: counting it would cost more than it tells
		w.Tokens += int64(len(o)+2) / 3
		w.Bytes += int64(len(o))
	}
	for _, p := range parts {
		switch p := p.(type) {
		case scrollback.Text:
			text(p.Text)
			opaque(p.Opaque)
		case scrollback.Reasoning:
			text(p.Text)
			opaque(p.Opaque)
		case scrollback.ToolCall:
			text(p.Name)
			text(string(p.Arguments))
			text(p.ID)
			opaque(p.Opaque)
		case scrollback.ToolResult:
			text(p.Name)
			text(p.Text)
			text(p.CallID)
			opaque(p.Opaque)
		case scrollback.Image:
			w.Tokens += int64(s.image(p.Width, p.Height, p.Detail))
			w.Bytes += p.Size * 4 / 3 // base64
			w.Images++
			opaque(p.Opaque)
		case scrollback.File:
			text(p.Name)
			w.Tokens += 16
			opaque(p.Opaque)
		}
	}
	return w
}

// IndexArtifacts are the artifacts whose text search reads with a message, each up to
// [MaxIndexBytes].
func IndexArtifacts(parts scrollback.Parts) (ids []scrollback.ArtifactID) {
	for _, p := range parts {
		switch p := p.(type) {
		case scrollback.File:
			if strings.HasPrefix(p.MediaType, "text/") || p.MediaType == "application/json" {
				ids = append(ids, p.Artifact)
			}
		case scrollback.ToolResult:
			if p.Artifact != "" {
				ids = append(ids, p.Artifact)
			}
		case scrollback.Text, scrollback.Image, scrollback.ToolCall, scrollback.Reasoning:
		}
	}
	return ids
}

// IndexText is what search reads of a message: everything a person or a tool
// said in it, and no look-up in the log or its result, which only repeat it.
func IndexText(parts scrollback.Parts) string {
	var b strings.Builder
	for _, p := range parts {
		switch p := p.(type) {
		case scrollback.Text:
			b.WriteString(p.Text)
		case scrollback.ToolCall:
			if !p.Recall() {
				b.WriteString(p.Name + " ")
				b.Write(p.Arguments)
			}
		case scrollback.ToolResult:
			if !p.Recall {
				b.WriteString(p.Name + " " + p.Text)
			}
		case scrollback.Image:
			b.WriteString(p.Name)
		case scrollback.File:
			b.WriteString(p.Name)
		case scrollback.Reasoning: // not said to anyone
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// BeginRequest opens a turn. Admit may refuse it, knowing the newest turn (nil
// when there was none): it runs inside the transaction, so it only judges. Edit
// then changes the conversation's own fields, unless it is refused or a replay.
type BeginRequest struct {
	Conversation scrollback.ConversationID
	Owner        string
	Idempotency  scrollback.Idempotency
	Messages     []Incoming
	Admit        func(last *scrollback.Turn) error
	Edit         func(*scrollback.Conversation)
}

// Begin opens a turn with the messages that start it. A turn left open by an
// owner whose lease ended is closed first, its draft saved as an interrupted
// message. The same idempotency key answers the turn it began.
func (s *Store) Begin(ctx context.Context, r BeginRequest) (driver.Begun, error) {
	now := s.Now()
	t := scrollback.Turn{
		ID: scrollback.TurnID(s.newID()), Conversation: r.Conversation, State: scrollback.TurnOpen,
		Owner: r.Owner, LeaseUntil: now + s.lease.Milliseconds(), Idempotency: r.Idempotency, StartedAt: now,
	}
	entries := s.entries(r.Messages, t.ID)
	for _, e := range entries {
		if e.Role == scrollback.RoleUser {
			t.UserMessage = e.ID
		}
	}
	return s.d.Begin(ctx, driver.Begin{
		Turn: t, Now: now, KeysSince: now - IdempotencyAge.Milliseconds(), Entries: entries,
		Admit: r.Admit, Edit: r.Edit, Salvage: s.salvage,
	})
}

// salvage makes an interrupted message of the draft of a turn whose owner is gone.
func (s *Store) salvage(old scrollback.Turn) []driver.Entry {
	if old.Draft.Empty() {
		return nil
	}
	return s.entries([]Incoming{{Message: scrollback.Message{Role: scrollback.RoleAssistant,
		Parts: old.Draft.Parts(), Model: old.Draft.Model, Status: scrollback.StatusInterrupted}}}, old.ID)
}

// Save keeps a turn's draft, renews its lease, and reports a wish to stop it.
func (s *Store) Save(ctx context.Context, t scrollback.Turn, d scrollback.Draft) (stop bool, err error) {
	return s.d.Save(ctx, driver.Save{Turn: t.ID, Owner: t.Owner, Draft: d, LeaseUntil: s.Now() + s.lease.Milliseconds()})
}

// FinishRequest stores what a step produced and says where the turn stands now.
type FinishRequest struct {
	Turn         scrollback.Turn
	Messages     []Incoming
	Usage        []scrollback.UsageRecord
	State        scrollback.TurnState
	OpenCalls    []scrollback.ToolCall
	FinishReason string
	Failure      *scrollback.Failure
	Window       *scrollback.WindowMark
}

// Finish appends the messages of a step; they are durable when it answers.
func (s *Store) Finish(ctx context.Context, f FinishRequest) (driver.Finished, error) {
	now := s.Now()
	return s.d.Finish(ctx, driver.Finish{
		Turn: f.Turn.ID, Owner: f.Turn.Owner, Now: now, LeaseUntil: now + s.lease.Milliseconds(),
		Entries: s.entries(f.Messages, f.Turn.ID), Usage: booked(f.Usage), Learn: s.learn, State: f.State, OpenCalls: slices.Clone(f.OpenCalls),
		FinishReason: f.FinishReason, Failure: f.Failure, Window: f.Window,
	})
}

// Append adds messages outside any turn, as an import does, behind the head that
// the caller saw; another is a conflict. A turn left open by an owner whose lease
// ended is closed first, as Begin does it.
func (s *Store) Append(ctx context.Context, head driver.Head, in []Incoming) (driver.Finished, error) {
	return s.d.Append(ctx, driver.Append{Conversation: head.ID, Now: s.Now(), IfHead: head.Branch.HeadSeq, IfBranch: head.Branch.ID,
		Entries: s.entries(in, ""), Salvage: s.salvage})
}

// Stop asks the owner of a turn, wherever it runs, to stop it.
func (s *Store) Stop(ctx context.Context, id scrollback.TurnID) error { return s.d.Stop(ctx, id) }

// Turn is a turn as stored.
func (s *Store) Turn(ctx context.Context, id scrollback.TurnID) (scrollback.Turn, error) {
	return s.d.Turn(ctx, id)
}

// LastTurn is the newest turn of a conversation.
func (s *Store) LastTurn(ctx context.Context, id scrollback.ConversationID) (scrollback.Turn, error) {
	return s.d.LastTurn(ctx, id)
}
