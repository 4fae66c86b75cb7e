// Package vectors keeps vectors of messages behind the log, and finds those that are nearest to a question. They are
// a view of the log like the full-text index: filled in batches, begun again for another model, and gone with what is
// purged.
//
// Words it adds: lookup (the vectors at one moment, as one question sees them).
//
// Invariants: only what people and models said is handed out to be embedded, never more than a bound of one
// message; the watermark moves together with the vectors that it passes; a lookup writes nothing; what is kept
// in memory of all vectors is bounded.
//
// It may not know SQL, ranking, models or who pays.
package vectors

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/vector"
)

// Bounds of a batch.
const (
	batchRead  = 256       // messages that are read for one
	batchBytes = 512 << 10 // of their parts
	batchTexts = 64        // texts that are handed out at once
	batchRunes = 48_000    // characters of these together, but for one that is longer

	// TextRunes is how many characters of a message get into its vector: what comes behind them does not count.
	TextRunes = 4000
)

// Text is what of a message is to be embedded.
type Text struct {
	Conversation scrollback.ConversationID
	Text         string
}

// Embed returns a vector for each text, all of one length; nil for one that nothing can be made of.
type Embed func(ctx context.Context, texts []Text) ([][]float32, error)

// Vectors are those of one database. They are safe for concurrent use.
type Vectors struct {
	d     driver.Index
	most  int // as MostScanned has it
	cache cache
}

// New makes them.
func New(d driver.Index) *Vectors { return &Vectors{d: d, most: MostScanned} }

// ReadState says how far they reach.
func (x *Vectors) ReadState(ctx context.Context) (driver.VectorState, error) {
	return x.d.ReadVectorState(ctx)
}

// FillStep makes the vectors of the oldest messages that have none, by a model of that name: one batch. It reports
// whether all have theirs. Vectors of another model, or of another length, are removed, and all are made again.
func (x *Vectors) FillStep(ctx context.Context, model string, embed Embed) (done bool, err error) {
	s, err := x.d.ReadVectorState(ctx)
	switch {
	case err != nil:
		return false, err
	case s.Model != model:
		return false, x.d.ResetVectors(ctx, model)
	case s.Newest <= s.Watermark:
		return true, nil
	}
	ms, err := x.d.ReadUnindexed(ctx, driver.UnindexedQuery{After: s.Watermark, Limit: batchRead, Bytes: batchBytes})
	if err != nil || len(ms) == 0 {
		return err == nil, err
	}
	b := driver.VectorBatch{Model: model, From: s.Watermark}
	var texts []Text
	runes := 0
	for _, m := range ms {
		text := SentText(m.Message)
		runes += utf8.RuneCountInString(text)
		if len(texts) == batchTexts || runes > batchRunes && len(texts) > 0 {
			break
		}
		if b.To = m.Number; text == "" {
			continue
		}
		texts = append(texts, Text{m.ConversationID, text})
		b.All = append(b.All, driver.MessageVector{Sketch: driver.Sketch{Number: m.Number, Place: m.Place, Role: m.Role,
			CreatedAt: m.CreatedAt}})
	}
	if len(texts) > 0 {
		all, err := embed(ctx, texts)
		if err != nil {
			return false, err
		}
		b = packBatch(b, all)
	}
	if b.Dimension > 0 && s.Vectors > 0 && b.Dimension != s.Dimension { // the name stands for another model now
		return false, x.d.ResetVectors(ctx, model)
	}
	_, err = x.d.PutVectors(ctx, b)
	return false, err
}

// packBatch gives the messages of a batch their vectors, and leaves out those without.
func packBatch(b driver.VectorBatch, all [][]float32) driver.VectorBatch {
	made := b.All[:0]
	for i, v := range all {
		v, ok := vector.Normalise(v)
		if !ok || b.Dimension > 0 && len(v) != b.Dimension {
			continue
		}
		b.Dimension = len(v)
		m := b.All[i]
		m.Data, m.Scale = vector.Pack(v)
		m.Bits = vector.Sketch(v)
		made = append(made, m)
	}
	b.All = made
	return b
}

// SentText returns what of a message is to be embedded: what a person or a model said in it, and nothing of tools,
// thoughts, instructions and files.
func SentText(m scrollback.Message) string {
	if m.Role != scrollback.RoleUser && m.Role != scrollback.RoleAssistant {
		return ""
	}
	var said []string
	for _, p := range m.Parts {
		if t, ok := p.(scrollback.Text); ok && !t.IsRecall() {
			said = append(said, strings.TrimSpace(t.Text))
		}
	}
	text := strings.TrimSpace(strings.Join(said, "\n"))
	n := 0
	for at := range text {
		if n == TextRunes {
			return text[:at]
		}
		n++
	}
	return text
}
