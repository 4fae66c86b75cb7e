package engine

import (
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/threading"
	"github.com/scrollback-ai/scrollback/internal/threading/dialect"
)

// openNamed prepares the conversation that a request names by its id, so that it is matched against all that is there,
// and returns the project whose threads it is matched among. It is as good as not there if it is not the caller's.
func (v *View) openNamed(ctx context.Context, project string, id threading.ThreadID,
	r *threading.Request) (string, error) {
	head, err := v.door.openHead(ctx, scrollback.ConversationID(id), scrollback.AccessWrite)
	switch {
	case scrollback.CodeOf(err) == scrollback.NotFound:
		return project, nil // it is made, or found to be somebody else's
	case err != nil:
		return project, err
	case head.DeletedAt != 0:
		return project, scrollback.Errorf(scrollback.NotFound, "engine.Exchange", i18n.ConversationInTrashRestoreFirst,
			head.ID)
	}
	index := v.e.store.Threads.Index()
	thread, err := index.Thread(ctx, id)
	if err != nil {
		return project, err
	}
	if thread == nil {
		thread = &threading.ThreadRow{ID: id, Scope: v.threadScope(head.Project), Dialect: r.Dialect}
	}
	return thread.Scope.Project, v.e.adoptMessages(ctx, head, *thread)
}

// adoptMessages lets requests of clients go on with the newest messages of a conversation that none of them brought:
// those of our own turns, and imported ones.
func (e *Engine) adoptMessages(ctx context.Context, head store.Head, thread threading.ThreadRow) error {
	index := e.store.Threads.Index()
	var newest []threading.Told // the newest first
	at := thread.Root
	var last *threading.RequestRow
	seen := map[scrollback.TurnID]bool{}
search:
	for to := head.Branch.HeadSeq; to > 0; {
		from := max(1, to-scrollback.ListMax+1)
		page, err := e.store.ReadMessages(ctx, head.Branch.ID, from, to)
		if err != nil {
			return err
		}
		for _, m := range slices.Backward(page) {
			if m.TurnID != "" && !seen[m.TurnID] {
				seen[m.TurnID] = true
				if last, err = index.Request(ctx, threading.RequestID(m.TurnID)); err != nil {
					return err
				}
				if last != nil {
					at, err = findAtom(ctx, index, last, string(m.ID))
					if err != nil {
						return err
					}
					break search
				}
			}
			told := threading.Told{Message: string(m.ID), Request: threading.RequestID(m.TurnID), Items: itemsOfMessage(m)}
			if told.Request == "" {
				told.Request = threading.RequestID(m.ID)
			}
			newest = append(newest, told)
		}
		to = from - 1
	}
	if len(newest) == 0 {
		return nil
	}
	slices.Reverse(newest)
	rows, err := e.matcher().Adopt(ctx, thread, at, newest,
		func() threading.BranchID { return threading.BranchID(e.store.NewID()) })
	if err != nil {
		return err
	}
	if len(rows.Atoms) == 0 && rows.Thread.Tip == thread.Tip {
		return nil
	}
	return e.writeAdopted(ctx, rows)
}

// writeAdopted writes the rows of a conversation that is adopted, many of them in batches: what is stored of the path
// is the beginning of it at any time.
func (e *Engine) writeAdopted(ctx context.Context, rows threading.Rows) error {
	for len(rows.Atoms) > historyAtoms {
		thread := *rows.Thread
		batch := threading.Rows{Thread: &thread, Atoms: rows.Atoms[:historyAtoms]}
		thread.Tip = batch.Atoms[historyAtoms-1].Place
		if err := e.store.Threads.Write(ctx, batch); err != nil {
			return err
		}
		rows.Atoms = rows.Atoms[historyAtoms:]
	}
	return e.store.Threads.Write(ctx, rows)
}

// maxAtomsOfRequest bounds how far back in a request's atoms one is looked for.
const maxAtomsOfRequest = 10_000

// findAtom returns the place of the last atom of a request that a message holds, or the end of the request.
func findAtom(ctx context.Context, index threading.Index, r *threading.RequestRow,
	message string) (threading.Place, error) {
	place := r.Tip
	for range maxAtomsOfRequest {
		atom, err := index.At(ctx, place)
		if err != nil {
			return place, err
		}
		if atom == nil || atom.Request != r.ID {
			break
		}
		if atom.Message == message {
			return place, nil
		}
		place = atom.Parent
	}
	return r.Tip, nil
}

// itemsOfMessage returns what a client would send of a message that it had said or been answered. What was looked up
// here is no part of that.
func itemsOfMessage(m scrollback.Message) (out []threading.Item) {
	for i, p := range m.Parts {
		it := threading.Item{Role: threading.Role(m.Role), Part: i}
		switch p := p.(type) {
		case scrollback.Text:
			it.Kind = threading.Text
			it.Text = p.Text
		case scrollback.ToolCall:
			if p.IsRecall() {
				continue
			}
			it.Kind = threading.Call
			it.Name = p.Name
			it.ID = p.ID
			it.Text = dialect.CanonicalArguments(string(p.Arguments))
		case scrollback.ToolResult:
			if (scrollback.ToolCall{Name: p.Name}).IsRecall() {
				continue
			}
			it.Kind = threading.Result
			it.Name = p.Name
			it.ID = p.CallID
			it.Text = p.Text
		default:
			continue
		}
		out = append(out, it)
	}
	return out
}

// openWithID returns the head of a conversation that was to be made with an id of the client's choice. One that was
// there before is not_found to whom it is not; to others the request is to be matched again.
func (v *View) openWithID(ctx context.Context, id scrollback.ConversationID, isNew bool) (store.Head, error) {
	head, err := v.door.openHead(ctx, id, scrollback.AccessWrite)
	if err == nil && !isNew {
		err = scrollback.Errorf(scrollback.Conflict, "engine.Exchange", i18n.AnotherRequestCreatesConversation, id)
	}
	return head, err
}
