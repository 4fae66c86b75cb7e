package store

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// DamagedMessage is a message that is not as it was stored.
type DamagedMessage = driver.DamagedMessage

// Hashes holds messages against the hashes that were made of them when they were stored.
type Hashes struct{ s *Store }

// damagedMost bounds how many damaged messages are named.
const damagedMost = 100

// FindDamaged lists the messages on the path of a branch, from seq to seq, that are not as they were
// stored, at most the first hundred. Those that have no hash yet count as sound.
func (h Hashes) FindDamaged(ctx context.Context, b scrollback.BranchID, from, to int64) ([]DamagedMessage, error) {
	var out []DamagedMessage
	for from = max(from, 1); from <= to && len(out) < damagedMost; from += chunk {
		v, err := h.s.d.Admin.VerifyHashes(ctx, driver.MessageQuery{Branch: b, From: from, To: min(to, from+chunk-1)})
		if err != nil {
			return nil, err
		}
		out = append(out, v.Damaged...)
	}
	return out[:min(len(out), damagedMost)], nil
}

// FindDamagedIn lists those of a whole conversation: on all of its branches, and on what it inherits.
func (h Hashes) FindDamagedIn(ctx context.Context, id scrollback.ConversationID) ([]DamagedMessage, error) {
	branches, err := h.s.d.Log.ListBranches(ctx, id)
	if err != nil {
		return nil, err
	}
	own := map[scrollback.BranchID]bool{}
	for _, b := range branches {
		own[b.ID] = true
	}
	var out []DamagedMessage
	seen := map[scrollback.MessageID]bool{}
	for _, b := range branches {
		from := b.AtSeq + 1
		if !own[b.Parent] { // what is before it is inherited
			from = 1
		}
		some, err := h.FindDamaged(ctx, b.ID, from, b.HeadSeq)
		if err != nil {
			return nil, err
		}
		for _, d := range some {
			if !seen[d.ID] && len(out) < damagedMost {
				seen[d.ID] = true
				out = append(out, d)
			}
		}
	}
	return out, nil
}

// Check fails with internal if a message of a conversation, or of what it inherits, is not as it was
// stored, and names it.
func (h Hashes) Check(ctx context.Context, id scrollback.ConversationID) error {
	damaged, err := h.FindDamagedIn(ctx, id)
	if err != nil {
		return err
	}
	return damageIn("store.Check", damaged)
}

// damageIn is the error that names damaged messages, and nil for none.
func damageIn(op string, damaged []DamagedMessage) error {
	switch len(damaged) {
	case 0:
		return nil
	case 1:
		return scrollback.Errorf(scrollback.Internal, op, i18n.ValueNotAsStored,
			nameDamaged(damaged))
	}
	return scrollback.Errorf(scrollback.Internal, op, i18n.ValuesNotAsStored,
		nameDamaged(damaged))
}

// nameDamaged names damaged messages for people: one by its id, more by their seqs.
func nameDamaged(all []DamagedMessage) string {
	if len(all) == 0 {
		return ""
	}
	if len(all) == 1 {
		return fmt.Sprintf("message #%d (%s)", all[0].Seq, all[0].ID)
	}
	var seqs []string
	for i, d := range all {
		if i == 10 {
			seqs = append(seqs, "…")
			break
		}
		seqs = append(seqs, fmt.Sprintf("#%d", d.Seq))
	}
	return fmt.Sprintf("%d messages (%s)", len(all), strings.Join(seqs, ", "))
}

// The making of hashes for messages that an older program stored.
const (
	hashWork  = "hashes" // as it is claimed
	hashEach  = 512      // messages in one transaction
	hashPause = 50 * time.Millisecond
)

// Fill makes the hashes of all messages that have none, and returns how many it made. progress,
// unless it is nil, is told how many those are so far. It can be broken off at any time.
func (h Hashes) Fill(ctx context.Context, progress func(made int64)) (made int64, err error) {
	return h.fillPaced(ctx, 0, progress)
}

func (h Hashes) fillPaced(ctx context.Context, pause time.Duration, progress func(made int64)) (made int64, err error) {
	for {
		step, err := h.s.d.Admin.FillHashes(ctx, hashEach)
		made += step.Made
		if err != nil || step.Done {
			return made, err
		}
		if progress != nil {
			progress(made)
		}
		select {
		case <-ctx.Done():
			return made, scrollback.Wrap(scrollback.Canceled, "store.Fill", ctx.Err())
		case <-time.After(pause):
		}
	}
}

// Refill is Fill from the beginning, for messages that came without a hash since.
func (h Hashes) Refill(ctx context.Context, progress func(made int64)) (made int64, err error) {
	if err := h.s.d.Admin.RefillHashes(ctx); err != nil {
		return 0, err
	}
	return h.Fill(ctx, progress)
}

// FillInBackground is Fill beside those who use the store, with pauses, by one server at a time. It returns when
// there is nothing to be made, which is done, or another server makes it, or ctx ends; what is left is
// made later.
func (h Hashes) FillInBackground(ctx context.Context, log *slog.Logger) (done bool) {
	claim, err := h.s.Claims.ClaimWork(ctx, "", hashWork)
	if err == nil && claim == nil {
		return false
	}
	defer claim.Release()
	var made int64
	if err == nil {
		made, err = h.fillPaced(ctx, hashPause, nil)
	}
	if err != nil && ctx.Err() == nil {
		log.Warn("hashes of older messages could not be made", "made", made, "error", err)
	}
	if err == nil && made > 0 {
		log.Info("made the hashes of older messages", "messages", made)
	}
	return err == nil
}
