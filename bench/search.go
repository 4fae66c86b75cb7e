//go:build linux

package main

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store"
)

// search measures finding words of a known share of the messages.
func (b *bench) search() error {
	for _, n := range []int{b.mid, b.big} {
		s, err := b.loaded(n)
		if err != nil {
			return err
		}
		err = b.searchAt(s, n)
		if err = errors.Join(err, s.Close()); err != nil {
			return err
		}
	}
	return b.indexSize(b.mid)
}

func (b *bench) searchAt(s *store.Store, n int) error {
	words := []struct{ what, query string }{{"English, 1 %", commonEnglish}, {"Chinese, 1 %", commonChinese},
		{"English, 0.01 %", rareEnglish}, {"Chinese, 0.01 %", rareChinese}, {"a question", question()}}
	const times = 20
	for r := range rounds {
		for _, w := range words {
			var took []time.Duration
			for range times {
				start := time.Now()
				found, err := s.Search(b.ctx, scrollback.SearchQuery{Query: w.query, Limit: 5, Around: 1})
				if err != nil {
					return err
				}
				took = append(took, time.Since(start))
				if len(found.Hits) == 0 {
					return fmt.Errorf("%s is not found", w.query)
				}
			}
			b.add(w.what+" of "+count(n), r, percentile(took, 0.5), "ms")
		}
	}
	return nil
}

// question consists of words as common as a language's, from the most common one to a rare
// one; no message holds all of them.
func question() string {
	w := newWriter(1)
	return strings.Join([]string{w.english[0], w.english[5], w.english[40], w.english[300], w.english[2000], rareEnglish}, " ")
}

// indexSize holds what the index weighs against the text in it.
func (b *bench) indexSize(n int) error {
	db, err := sql.Open("sqlite", "file:"+b.file(fmt.Sprint("messages-", n))+"?mode=ro")
	if err != nil {
		return err
	}
	defer db.Close()
	var index, text float64
	err = db.QueryRowContext(b.ctx, `SELECT (SELECT sum(pgsize) FROM dbstat WHERE name IN ('index_blocks', 'index_blocks_term', 'index_marks',
		'index_marks_start', 'index_segments')), (SELECT sum(own_bytes) FROM messages)`).Scan(&index, &text)
	if err != nil {
		return err
	}
	b.add("index bytes a message byte", 0, index/text, "")
	return nil
}
