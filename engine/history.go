package engine

import (
	"context"
	"math"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// A batch of a long history that a client brings. Others write between two of them.
const (
	historyMessages = 512
	historyBytes    = 4 << 20
	historyAtoms    = 2048
)

// incomingHistory is what a client's request brings, on its way into the log.
type incomingHistory struct {
	messages []store.IncomingMessage
	atoms    [][]int // of each message, by index in rows
	least    []int   // of the atoms of a message and those behind it, the first
	rows     threading.Rows
	at       store.Place // behind which it comes
}

// storeAhead stores all but the last batch of a long history, on a branch beside the path of the conversation: it is
// seen when a turn begins with the rest, behind it. If that does not come to pass, the next request with the same
// history goes on from what is stored.
func (e *Engine) storeAhead(ctx context.Context, head store.Head, h *incomingHistory) error {
	h.noteLeast()
	cut := h.findCut()
	if cut == 0 {
		return nil
	}
	b, err := e.store.Branches.NewBeside(ctx, head, h.at)
	if err != nil {
		return err
	}
	thread := *h.rows.Thread
	thread.Tip = thread.Root
	if len(h.rows.Atoms) > 0 {
		thread.Tip = h.rows.Atoms[0].Parent
	}
	thread.Newest = "" // what has failed before is not said again in place of these
	name := h.rows.Name
	for stored := 0; cut > 0; cut = h.findCut() {
		n := h.countAtoms(cut, stored)
		batch := threading.Rows{Thread: &thread, Atoms: h.rows.Atoms[:n], Name: name}
		if n > 0 {
			thread.Tip = batch.Atoms[n-1].Place
		}
		if b, err = e.store.AppendBeside(ctx, b, h.messages[:cut], &batch); err != nil {
			return err
		}
		h.messages = h.messages[cut:]
		h.atoms = h.atoms[cut:]
		h.least = h.least[cut:]
		h.rows.Atoms = h.rows.Atoms[n:]
		h.at = store.Place{Branch: b.ID, Seq: b.HeadSeq}
		stored += n
		name = nil
	}
	return nil
}

// noteLeast notes which atoms come first from each message on.
func (h *incomingHistory) noteLeast() {
	h.least = make([]int, len(h.atoms))
	least := math.MaxInt
	for i, atoms := range slices.Backward(h.atoms) {
		for _, atom := range atoms {
			least = min(least, atom)
		}
		h.least[i] = least
	}
}

// findCut returns how many messages the next batch has: 0 if the rest is not too much for one. Their atoms come before
// those of the rest, so that what is stored is the beginning of the path.
func (h *incomingHistory) findCut() int {
	bytes := 0
	atoms := 0
	last := -1 // of the atoms so far
	cut := 0
	for i, m := range h.messages {
		if i > 0 && last < h.least[i] {
			cut = i
		}
		if cut > 0 && (i >= historyMessages || bytes >= historyBytes || atoms >= historyAtoms) {
			return cut
		}
		bytes += m.Parts.Bytes()
		atoms += len(h.atoms[i])
		for _, atom := range h.atoms[i] {
			last = max(last, atom)
		}
	}
	return 0
}

// countAtoms returns how many of the atoms that are left belong to the first messages, of which some are stored.
func (h *incomingHistory) countAtoms(messages, stored int) int {
	n := 0
	for _, atoms := range h.atoms[:messages] {
		for _, atom := range atoms {
			n = max(n, atom-stored+1)
		}
	}
	return n
}

// readOpening returns the messages with which a conversation begins whose path has none yet: those of a request, or the
// first of what an earlier one, which was cut, has stored ahead.
func (e *Engine) readOpening(ctx context.Context, head store.Head, at store.Place,
	brought []ExchangeMessage) ([]ExchangeMessage, error) {
	if at.Seq == 0 || head.Messages > 0 {
		return brought, nil
	}
	first, err := e.store.ReadMessages(ctx, at.Branch, 1, min(at.Seq, scrollback.ListMax))
	var out []ExchangeMessage
	for _, m := range first {
		out = append(out, ExchangeMessage{Message: m, Atoms: []int{0}})
	}
	return out, err
}

// markAdopted marks the messages of a history that was never answered here.
func markAdopted(messages []ExchangeMessage, adopted int) {
	for i, m := range messages {
		for _, atom := range m.Atoms {
			if atom < adopted && len(m.Meta) == 0 {
				messages[i].Meta = clientSource
			}
		}
	}
}

// placeOfMessage returns where a message stands that is of no turn: on the path of a conversation, or on a branch
// beside it.
func (e *Engine) placeOfMessage(ctx context.Context, head store.Head, message string) (store.Place, error) {
	at, err := e.searchBranch(ctx, head.Branch.ID, 0, head.Branch.HeadSeq, message)
	if err != nil || at.Seq > 0 {
		return at, err
	}
	all, err := e.store.Branches.List(ctx, head.ID)
	if err != nil {
		return at, err
	}
	for _, b := range all {
		if at, err = e.searchBranch(ctx, b.ID, b.AtSeq, b.HeadSeq, message); err != nil || at.Seq > 0 {
			return at, err
		}
	}
	return at, scrollback.Errorf(scrollback.NotFound, "engine.Exchange", i18n.NoConversation, head.ID)
}

// searchBranch returns where a message stands on the path of a branch behind a seq and up to another; Seq is 0 if it is
// not there.
func (e *Engine) searchBranch(ctx context.Context, b scrollback.BranchID, behind, to int64,
	message string) (store.Place, error) {
	for to > behind {
		from := max(behind+1, to-scrollback.ListMax+1)
		page, err := e.store.ReadMessages(ctx, b, from, to)
		if err != nil {
			return store.Place{}, err
		}
		for _, m := range slices.Backward(page) {
			if string(m.ID) == message {
				return store.Place{Branch: m.Branch, Seq: m.Seq}, nil
			}
		}
		to = from - 1
	}
	return store.Place{}, nil
}
