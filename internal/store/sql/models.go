package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// learnedModel is a row of models_learned. broken says that some of it cannot be read; the
// rest is there.
type learnedModel struct {
	scrollback.Learned
	model  string
	broken error
}

// LearnedColumns are those of models_learned.
const LearnedColumns = `model, factor, facts`

// scan reads a row.
func (k *learnedModel) scan(r Row) error {
	var factor float64
	var facts string
	if err := r.Scan(&k.model, lenientFloat{&factor}, &facts); err != nil {
		return err
	}
	if err := decodeJSON(facts, &k.Learned); err != nil {
		k.Learned = scrollback.Learned{}
		k.broken = fmt.Errorf("what is known of it cannot be read: %w", err)
	}
	if k.Factor = factor; !(factor >= 0) || math.IsInf(factor, 0) {
		k.Factor = 0
		k.broken = errors.New("its factor is not a number")
	}
	return nil
}

// encodeFacts returns what is known besides the factor, as it is stored.
func encodeFacts(l scrollback.Learned) (string, error) {
	l.Factor = 0
	return encodeJSON(l)
}

const selectModel = `SELECT ` + LearnedColumns + ` FROM models_learned WHERE model = $1`

// findModel reads what is known of a model; sql.ErrNoRows for nothing. No lock is taken: of what
// is only learned the last word counts.
func findModel(ctx context.Context, r Reader, model string) (k learnedModel, err error) {
	err = QueryRow(ctx, r, k.scan, selectModel, model)
	return k, err
}

func (w *writeTx) storeModel(ctx context.Context, model string, l scrollback.Learned) error {
	facts, err := encodeFacts(l)
	if err != nil {
		return err
	}
	return w.tx.Queue(ctx, `INSERT INTO models_learned (model, factor, facts) VALUES ($1, $2, $3)
		ON CONFLICT (model) DO UPDATE SET factor = excluded.factor, facts = excluded.facts`, model, l.Factor, facts)
}

// lesson is what records teach about their models: how a factor changes, and the models as they are.
type lesson struct {
	learn  driver.FactorUpdate
	models map[string]*learnedModel
}

// queueLesson reads the models that records teach about, no later than with the next query.
func (w *writeTx) queueLesson(ctx context.Context, records []scrollback.UsageRecord,
	learn driver.FactorUpdate) (lesson, error) {
	l := lesson{learn, map[string]*learnedModel{}}
	for _, u := range records {
		if !learn.LearnsFrom(u) || l.models[u.Model] != nil {
			continue
		}
		k := &learnedModel{}
		l.models[u.Model] = k
		if err := w.tx.QueueQuery(ctx, k.scan, selectModel, u.Model); err != nil {
			return l, err
		}
	}
	return l, nil
}

// learnFactor changes the factor of a model, and nothing else.
func (w *writeTx) learnFactor(ctx context.Context, u scrollback.UsageRecord, l lesson) error {
	k := l.models[u.Model]
	factor := l.learn(k.Factor, u)
	if factor == k.Factor {
		return nil
	}
	k.Factor = factor
	return w.tx.Queue(ctx, w.Dialect.StoreFactor, u.Model, factor)
}

// ReadLearned implements [driver.Turns].
func (db turns) ReadLearned(ctx context.Context, model string) (scrollback.Learned, error) {
	k, err := findModel(ctx, db.Readers, model)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return k.Learned, db.wrapError("sqlstore.ReadLearned", err)
}

// UpdateLearned implements [driver.Turns].
func (db turns) UpdateLearned(ctx context.Context, model string, edit func(*scrollback.Learned)) error {
	return db.write(ctx, "sqlstore.UpdateLearned", func(ctx context.Context, w *writeTx) error {
		if err := w.holdName(ctx, "model "+model); err != nil {
			return err
		}
		if err := lockRows(ctx, w.tx, w.Dialect.HoldModel, model); err != nil {
			return err
		}
		k, err := findModel(ctx, w.tx, model)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		factor := k.Factor
		before, err := encodeFacts(k.Learned)
		if err != nil {
			return err
		}
		edit(&k.Learned)
		after, err := encodeFacts(k.Learned)
		if err != nil || after == before && k.Factor == factor {
			return err
		}
		return w.storeModel(ctx, model, k.Learned)
	})
}
