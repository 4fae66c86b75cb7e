package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"sync"

	"github.com/scrollback-ai/scrollback"
)

// sentStep is what a step of a turn sent, as it is stored; an empty text for nothing. The first
// step's stands in the row of its turn.
type sentStep struct {
	step  int
	text  string
	texts map[string]string // that it names, by hash
}

// prepareStep makes one before the transaction.
func prepareStep(sent *scrollback.SentRequest, texts map[string]string) (sentStep, error) {
	if sent == nil {
		return sentStep{}, nil
	}
	text, err := encodeJSON(sent)
	return sentStep{step: sent.Step, text: text, texts: texts}, err
}

// inTurn is what goes into the row of the turn.
func (s sentStep) inTurn() string {
	if s.step == 1 {
		return s.text
	}
	return ""
}

// storeStep keeps what a step of a turn sent, unless it went into the turn's row, and the texts
// that it names.
func (w *writeTx) storeStep(ctx context.Context, t *scrollback.Turn, s sentStep) error {
	if s.text == "" {
		return nil
	}
	for hash, content := range s.texts {
		if err := w.storeText(ctx, t.Conversation, hash, content); err != nil {
			return err
		}
	}
	if s.inTurn() != "" {
		return nil
	}
	return w.tx.Queue(ctx, w.Dialect.StoreStep, t.ID, s.step, t.Conversation, s.text)
}

// storeText keeps a text that a conversation names, unless the conversation holds it already.
func (w *writeTx) storeText(ctx context.Context, id scrollback.ConversationID, hash, content string) error {
	use := textUse{id, hash}
	known := w.knownUses()
	if known.has(use) {
		return nil
	}
	held := false
	err := w.tx.Query(ctx, func(Row) error { held = true; return nil },
		`SELECT 1 FROM sent_text_uses WHERE conversation_id = $1 AND sha256 = $2`, id, hash)
	if held && err == nil {
		known.add(use)
	}
	if err != nil || held {
		return err
	}
	err = w.tx.Queue(ctx, `INSERT INTO sent_text_uses (conversation_id, sha256) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
		id, hash)
	if err != nil {
		return err
	}
	return w.tx.Queue(ctx, w.Dialect.InsertText, hash, content)
}

// textUse is a text that a conversation names.
type textUse struct {
	conversation scrollback.ConversationID
	hash         string
}

// textUses are some that were read in the database. A conversation names what it named until it is purged,
// and then has no further turns; so other processes may write meanwhile.
type textUses struct {
	mu  sync.Mutex
	all map[textUse]struct{}
}

// maxUses is how many are known before all are forgotten.
const maxUses = 8192

// knownUses are those of the writer, which forgets what it undoes, or of the process.
func (w *writeTx) knownUses() *textUses {
	if cache := w.tx.Cache(); cache != nil {
		return &cache.uses
	}
	return &w.uses
}

func (k *textUses) has(use textUse) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, ok := k.all[use]
	return ok
}

func (k *textUses) add(use textUse) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all == nil || len(k.all) >= maxUses {
		k.all = map[textUse]struct{}{}
	}
	k.all[use] = struct{}{}
}

func (k *textUses) clear() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = nil
}

// dropSteps removes what the turns of a conversation sent, while they are there, and the
// texts that no other conversation names.
func (w *writeTx) dropSteps(ctx context.Context, id scrollback.ConversationID) error {
	err := w.tx.Queue(ctx, `DELETE FROM turn_steps WHERE turn_id IN (SELECT id FROM turns WHERE conversation_id = $1)`, id)
	if err != nil {
		return err
	}
	if err := lockRows(ctx, w.tx, w.Dialect.HoldTexts, id); err != nil {
		return err
	}
	err = w.tx.Queue(ctx, `DELETE FROM sent_texts WHERE sha256 IN (SELECT sha256 FROM sent_text_uses WHERE conversation_id = $1)
		AND NOT EXISTS (SELECT 1 FROM sent_text_uses u WHERE u.sha256 = sent_texts.sha256 AND u.conversation_id <> $1)`, id)
	if err != nil {
		return err
	}
	w.knownUses().clear()
	return w.tx.Queue(ctx, `DELETE FROM sent_text_uses WHERE conversation_id = $1`, id)
}

// ReadSteps implements [driver.Turns].
func (db turns) ReadSteps(ctx context.Context, id scrollback.TurnID) ([]scrollback.SentRequest, error) {
	var out []scrollback.SentRequest
	add := func(r Row) error {
		var sent scrollback.SentRequest
		err := r.Scan(&sent.Step, asJSON(&sent))
		if len(out) == 0 || out[len(out)-1].Step != sent.Step { // the turn's own is the newer one
			out = append(out, sent)
		}
		return err
	}
	err := db.Readers.Query(ctx, add, `SELECT 1, sent FROM turns WHERE id = $1 AND sent <> ''`, id)
	if err == nil {
		err = db.Readers.Query(ctx, add, `SELECT step, sent FROM turn_steps WHERE turn_id = $1 ORDER BY step`, id)
	}
	return out, db.wrapError("sqlstore.ReadSteps", err)
}

// ReadTexts implements [driver.Turns].
func (db turns) ReadTexts(ctx context.Context, of scrollback.ConversationID,
	hashes []string) (map[string]string, error) {
	out := map[string]string{}
	for _, hash := range hashes {
		var text string
		err := QueryRow(ctx, db.Readers, scanInto(&text), `SELECT t.text FROM sent_text_uses u
			JOIN sent_texts t ON t.sha256 = u.sha256 WHERE u.conversation_id = $1 AND u.sha256 = $2`, of, hash)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, db.wrapError("sqlstore.ReadTexts", err)
		}
		out[hash] = text
	}
	return out, nil
}

// ReadMeta implements [driver.Turns].
func (db turns) ReadMeta(ctx context.Context,
	ids []scrollback.TurnID) (map[scrollback.TurnID]scrollback.TurnMeta, error) {
	out := map[scrollback.TurnID]scrollback.TurnMeta{}
	for _, id := range ids {
		var meta scrollback.TurnMeta
		err := QueryRow(ctx, db.Readers, scanInto(asJSON(&meta)), `SELECT meta FROM turns WHERE id = $1 AND meta <> ''`, id)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, db.wrapError("sqlstore.ReadMeta", err)
		}
		out[id] = meta
	}
	return out, nil
}
