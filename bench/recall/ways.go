package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"gocloud.dev/blob/memblob"
	_ "modernc.org/sqlite"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/archive"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/recall"
	"github.com/scrollback-ai/scrollback/store"
	"github.com/scrollback-ai/scrollback/token"
)

// shown is how many hits a way is asked for, and around how many neighbours come
// along, as the tool has it.
const (
	shown  = 10
	around = scrollback.AroundDefault
)

// answer is what a way returns for a question: the places of its hits, best
// first, and the text that a model would get.
type answer struct {
	places []int
	text   string
}

// way finds things in one talk.
type way interface {
	find(ctx context.Context, question string) (answer, error)
}

// product is scrollback itself: the recall tool over a store.
type product struct {
	e  *engine.View
	id scrollback.ConversationID
}

// newProduct writes a talk as an import does.
func newProduct(ctx context.Context, s *store.Store, t talk) (product, error) {
	eng := engine.New(s, archive.New(s, memblob.OpenBucket(nil), nil), engine.Options{Model: "none"})
	e := eng.As(scrollback.Operator())
	c, _, err := s.Create(ctx, scrollback.Conversation{Title: t.lang})
	if err != nil {
		return product{}, err
	}
	head, err := s.Head(ctx, c.ID)
	for from := 0; from < len(t.said) && err == nil; from += 500 {
		var in []store.Incoming
		for _, m := range t.said[from:min(from+500, len(t.said))] {
			in = append(in, store.Incoming{Message: scrollback.Message{Role: scrollback.Role(m.role), CreatedAt: m.at.UnixMilli(),
				Parts: scrollback.Parts{scrollback.Text{Text: m.text}}}})
		}
		var done store.Finished
		if done, err = s.Append(ctx, head, in); err == nil {
			head = done.Head
		}
	}
	return product{e, c.ID}, err
}

func (p product) find(ctx context.Context, question string) (answer, error) {
	args, err := json.Marshal(map[string]any{"query": question, "limit": shown, "around": around})
	if err != nil {
		return answer{}, err
	}
	text, err := p.e.Recall().Call(ctx, p.id, "context_search", args, recall.RoomMax)
	if err != nil {
		return answer{}, err
	}
	var got struct {
		Hits []struct {
			Seq int `json:"seq"`
		} `json:"hits"`
	}
	err = json.Unmarshal([]byte(text), &got)
	a := answer{text: text}
	for _, h := range got.Hits {
		a.places = append(a.places, h.Seq-1)
	}
	return a, err
}

// plain is SQLite's plain full-text search: its default tokenizer, any of the words, its
// bm25. Hits are shown in the shortest form there is.
type plain struct {
	db   *sql.DB
	said []said
	near int // neighbours on each side
}

func newPlain(ctx context.Context, t talk) (*sql.DB, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // each connection has its own database in memory
	if _, err = db.ExecContext(ctx, `CREATE VIRTUAL TABLE said USING fts5(text)`); err != nil {
		return nil, err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	for i, m := range t.said {
		if _, err = tx.ExecContext(ctx, `INSERT INTO said (rowid, text) VALUES (?, ?)`, i+1, m.text); err != nil {
			return nil, err
		}
	}
	return db, tx.Commit()
}

func (p plain) find(ctx context.Context, question string) (answer, error) {
	var words []string
	for _, w := range strings.FieldsFunc(question, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		words = append(words, `"`+w+`"`)
	}
	rows, err := p.db.QueryContext(ctx, `SELECT rowid FROM said WHERE said MATCH ? ORDER BY bm25(said), rowid LIMIT ?`, strings.Join(words, " OR "), shown)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = rows.Close() }()
	var a answer
	var b strings.Builder
	for rows.Next() {
		var n int
		if err := rows.Scan(&n); err != nil {
			return answer{}, err
		}
		a.places = append(a.places, n-1)
		for i := max(0, n-1-p.near); i < min(len(p.said), n+p.near); i++ {
			b.WriteString(p.said[i].short(i))
		}
	}
	a.text = b.String()
	return a, rows.Err()
}

// short is a message in the shortest form that says who said it where.
func (s said) short(i int) string {
	body, _ := json.Marshal(s.text) // a string always has its JSON
	return fmt.Sprintf("#%d %s: %s\n", i+1, s.role, body)
}

// recent is the newest messages, whatever the question is.
type recent struct{ answer }

// newRecent reads back as far as the largest window goes.
func newRecent(t talk) recent {
	var r recent
	var b strings.Builder
	for i, tokens := len(t.said)-1, 0; i >= 0 && tokens <= windows[len(windows)-1]; i-- {
		if len(r.places) < shown {
			r.places = append(r.places, i)
		}
		s := t.said[i].short(i)
		tokens += token.Count(s)
		b.WriteString(s)
	}
	r.text = b.String()
	return r
}

func (r recent) find(context.Context, string) (answer, error) { return r.answer, nil }
