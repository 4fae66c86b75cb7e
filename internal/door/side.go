package door

import (
	"cmp"
	"context"
	"io"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/threading"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/window"
)

// beginSideCall has a side call answered: what it says is in no conversation.
func (d *Door) beginSideCall(ctx context.Context, v *engine.View, r *Request, asked *threading.Request,
	match *threading.Match) (*relay, error) {
	options := readOptions(r.Dialect, r.Body)
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	rel := newRelay(Head{ID: r.answerID(v.NewExchangeID()), Model: asked.Model, Created: time.Now(),
		Tools: formedTools(options.Tools)}, cancel)
	items := answerItems
	if asked.Compacts {
		items = rel.compactionOf
	}
	project, err := v.Projects().Resolve(ctx, r.Project)
	if err != nil {
		cancel()
		return nil, err
	}
	mode := d.modeOf(v, r, project)
	id, answer, err := v.BeginSideCall(ctx, engine.SideCallRequest{Match: match, Project: r.Project,
		Settings:   engine.Overrides{Model: d.chooseModel(v, asked.Model, d.mayPass(r)), Thinking: options.Thinking},
		MayForward: d.mayPass(r),
		Request: func(f model.Facts) model.Request {
			if mode != ModeWindow && speaks(f, r.Dialect) && hasHistory(r, asked) {
				return model.Request{Forward: d.forward(r, f, rel)}
			}
			return translate(asked, options, f.Dialect)
		},
		Follow: rel.addPiece, ID: rel.head.ID, Items: items})
	if err != nil {
		cancel()
		return nil, err
	}
	d.keepRelay(id, rel)
	go func() {
		defer cancel()
		defer d.dropRelay(id)
		if asked.WarmUp { // sent again it has another purpose
			rel.end(End{Finish: scrollback.FinishStop}, nil)
			return
		}
		done, err := answer(run)
		rel.end(End{Finish: cmp.Or(done.Done.FinishReason, scrollback.FinishTruncated), Usage: done.Usage}, err)
	}()
	return rel, nil
}

// tellLate stores the results that a request for a summary shows first, and matches it again: the summary stands for
// them too.
func (d *Door) tellLate(ctx context.Context, v *engine.View, r *Request, asked *threading.Request,
	match *threading.Match) (*threading.Match, error) {
	messages := readMessages(asked, &threading.Match{New: match.Late, From: len(asked.Items)})
	_, _, err := v.Tell(ctx, engine.TellRequest{Of: scrollback.ConversationID(match.Thread), Behind: match.Base,
		Messages: messages})
	if err != nil {
		return nil, err
	}
	return v.MatchThread(ctx, r.Project, asked)
}

// translate returns a client's request as a model of any server is sent it: its history as it stands, in a form that
// the server accepts.
func translate(asked *threading.Request, o options, d scrollback.Dialect) model.Request {
	in := window.Input{Instructions: readInstructions(asked), Tools: o.Tools, Live: readTalk(asked), Dialect: d}
	if asked.Compacts {
		in.Tools = nil
		in.Live = append(in.Live, scrollback.Message{Role: scrollback.RoleUser, Status: scrollback.StatusComplete,
			Parts: scrollback.Say(compactionPrompt)})
	}
	return model.Request{Items: window.Assemble(in).Items, Tools: in.Tools, Thinking: o.Thinking, Bytes: readNothing,
		NoRetries: true}
}

// readTalk returns what a request says as messages, its files by name only: a side call is about words.
func readTalk(asked *threading.Request) (out []scrollback.Message) {
	last := -1
	for i, it := range asked.Items {
		if i < instructionsEnd(asked) || it.Kind == threading.Thinking {
			continue
		}
		role := scrollback.Role(it.Role)
		if n := len(out); last < 0 || last != it.Message || out[n-1].Role != role {
			out = append(out, scrollback.Message{Role: role, Status: scrollback.StatusComplete})
			last = it.Message
		}
		part, bytes := readItem(it)
		if bytes != nil {
			part = scrollback.Text{Text: "[a file]"}
		}
		m := &out[len(out)-1]
		m.Parts = append(m.Parts, part)
	}
	return out
}

// compactionPrompt asks for what takes the place of a history.
const compactionPrompt = `Summarize the conversation above for whoever goes on with it: what was asked for, what was
decided and done, the files and names that matter, and what is left to do. Answer with the summary alone.`

// readNothing is for requests without images.
func readNothing(context.Context, scrollback.ArtifactID) ([]byte, error) {
	return nil, io.ErrUnexpectedEOF
}

// replay returns the stored answer to a request that was answered before.
func (d *Door) replay(ctx context.Context, v *engine.View, match *threading.Match,
	r *Request, asked *threading.Request) (*relay, error) {
	if match.Earlier.Side != "" || match.Earlier.Thread == "" {
		return d.beginSideCall(ctx, v, r, asked, match)
	}
	turn := string(match.Earlier.ID)
	return replayTurn(ctx, v, Head{ID: r.answerID(turn), Model: asked.Model,
		Conversation: scrollback.ConversationID(match.Earlier.Thread)}, scrollback.TurnID(turn))
}

// replayTurn returns the stored answer of a turn.
func replayTurn(ctx context.Context, v *engine.View, head Head, turn scrollback.TurnID) (*relay, error) {
	said, err := v.ReadAnswer(ctx, head.Conversation, turn)
	if err != nil {
		return nil, err
	}
	if s := said.Turn.State; s != scrollback.TurnComplete && s != scrollback.TurnWaiting {
		// The server that ran it is gone: the request is its retry, which the next match finds.
		return nil, scrollback.Errorf(scrollback.Conflict, "door", i18n.TurnOfAnotherOwner, turn)
	}
	head.Created = time.UnixMilli(said.Turn.StartedAt)
	head.Tools = formedTools(said.Tools)
	rel := newRelay(head, func() {})
	for _, p := range said.Parts {
		rel.addPiece(pieceOf(p))
	}
	finish := said.Turn.FinishReason
	if said.Turn.State == scrollback.TurnInterrupted {
		finish = FinishInterrupted
	}
	rel.end(End{Finish: finish, Usage: said.Usage}, nil)
	return rel, nil
}

// pieceOf returns a part of an answer as one piece.
func pieceOf(p scrollback.Part) model.Delta {
	switch p := p.(type) {
	case scrollback.Text:
		return model.Delta{Text: p.Text}
	case scrollback.Reasoning:
		return model.Delta{Reasoning: p.Text, Opaque: p.Opaque}
	case scrollback.ToolCall:
		return model.Delta{Call: &p}
	default:
		return model.Delta{}
	}
}
