package sqlrow

import (
	"context"
	"database/sql"
	"errors"

	"github.com/scrollback-ai/scrollback"
)

// Account is what a step of a turn sent, as it is stored; an empty text for nothing.
type Account struct {
	Step  int
	Text  string
	Texts map[string]string // that it names, by hash
}

// AccountOf makes an account, before the transaction.
func AccountOf(sent *scrollback.Sent, texts map[string]string) (Account, error) {
	if sent == nil {
		return Account{}, nil
	}
	text, err := JSON(sent)
	return Account{Step: sent.Step, Text: text, Texts: texts}, err
}

// InTurn is what goes into the turn's own row: the account of its first step.
func (a Account) InTurn() string {
	if a.Step == 1 {
		return a.Text
	}
	return ""
}

const (
	// InsertText keeps a text that may be there, and stays as long as the transaction does.
	InsertText = `INSERT INTO sent_texts (sha256, text) VALUES ($1, $2) ON CONFLICT DO NOTHING`

	// OfStep is the key of what a step sent.
	OfStep = `ON CONFLICT (turn_id, step)`
)

// PutSent keeps what a step of a turn sent, unless it went into the turn's row, and the
// texts that it names.
func PutSent(ctx context.Context, tx *Session, t *scrollback.Turn, a Account) error {
	if a.Text == "" {
		return nil
	}
	for hash, content := range a.Texts {
		err := tx.Known(ctx, func(Scanner) error { return nil }, Uses.At(t.Conversation, hash))
		if err == nil {
			continue // its conversation holds it
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		use := []any{t.Conversation, hash}
		if err := tx.Put(ctx, Uses.At(use...), use,
			`INSERT INTO sent_text_uses (conversation_id, sha256) VALUES ($1, $2) ON CONFLICT DO NOTHING`, use...); err != nil {
			return err
		}
		if err := tx.Run(ctx, InsertText, hash, content); err != nil {
			return err
		}
	}
	if a.InTurn() != "" {
		return nil
	}
	return tx.Run(ctx, `INSERT INTO turn_steps (turn_id, step, conversation_id, sent) VALUES ($1, $2, $3, $4)
		`+OfStep+` DO UPDATE SET sent = excluded.sent`, t.ID, a.Step, t.Conversation, a.Text)
}

// DropSent removes what the turns of a conversation sent, while they are there, and the
// texts that no other conversation names.
func DropSent(ctx context.Context, tx *Session, id scrollback.ConversationID) error {
	err := tx.Run(ctx, `DELETE FROM turn_steps WHERE turn_id IN (SELECT id FROM turns WHERE conversation_id = $1)`, id)
	if err != nil {
		return err
	}
	err = tx.Hold(ctx,
		`SELECT sha256 FROM sent_texts WHERE sha256 IN (SELECT sha256 FROM sent_text_uses WHERE conversation_id = $1) ORDER BY sha256`, id)
	if err != nil {
		return err
	}
	err = tx.Run(ctx, `DELETE FROM sent_texts WHERE sha256 IN (SELECT sha256 FROM sent_text_uses WHERE conversation_id = $1)
		AND NOT EXISTS (SELECT 1 FROM sent_text_uses u WHERE u.sha256 = sent_texts.sha256 AND u.conversation_id <> $1)`, id)
	if err != nil {
		return err
	}
	return tx.Run(ctx, `DELETE FROM sent_text_uses WHERE conversation_id = $1`, id)
}

// Steps are what the steps of a turn sent, in order.
func Steps(ctx context.Context, s *Session, id scrollback.TurnID) ([]scrollback.Sent, error) {
	var out []scrollback.Sent
	add := func(r Scanner) error {
		var sent scrollback.Sent
		var text string
		err := r.Scan(&sent.Step, &text)
		if err == nil {
			err = Parse(text, &sent)
		}
		if len(out) == 0 || out[len(out)-1].Step != sent.Step { // the turn's own is the newer one
			out = append(out, sent)
		}
		return err
	}
	err := s.Rows(ctx, add, `SELECT 1, sent FROM turns WHERE id = $1 AND sent <> ''`, id)
	if err == nil {
		err = s.Rows(ctx, add, `SELECT step, sent FROM turn_steps WHERE turn_id = $1 ORDER BY step`, id)
	}
	return out, err
}

// Texts are those of a conversation's steps that are known, by hash.
func Texts(ctx context.Context, s *Session, of scrollback.ConversationID, hashes []string) (map[string]string, error) {
	out := map[string]string{}
	for _, hash := range hashes {
		var text string
		err := s.Row(ctx, func(r Scanner) error { return r.Scan(&text) }, `SELECT t.text FROM sent_text_uses u
			JOIN sent_texts t ON t.sha256 = u.sha256 WHERE u.conversation_id = $1 AND u.sha256 = $2`, of, hash)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out[hash] = text
	}
	return out, nil
}

// Metas are what is kept about turns beside their messages, where anything is.
func Metas(ctx context.Context, s *Session,
	ids []scrollback.TurnID) (map[scrollback.TurnID]scrollback.TurnMeta, error) {
	out := map[scrollback.TurnID]scrollback.TurnMeta{}
	for _, id := range ids {
		var text string
		var meta scrollback.TurnMeta
		err := s.Row(ctx, func(r Scanner) error { return r.Scan(&text) },
			`SELECT meta FROM turns WHERE id = $1 AND meta <> ''`, id)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err == nil {
			err = Parse(text, &meta)
		}
		if err != nil {
			return nil, err
		}
		out[id] = meta
	}
	return out, nil
}
