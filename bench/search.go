//go:build linux

package main

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store"
)

// measureSearch measures finding words of a known share of the messages, beside reading a page of
// the newest messages.
func (b *bench) measureSearch() error {
	for _, n := range []int{b.mid, b.big} {
		s, err := b.openLoaded(n)
		if err != nil {
			return err
		}
		err = b.searchAt(s, n)
		if err == nil && n == b.mid {
			err = b.vectorsAt(s, n)
		}
		if err = errors.Join(err, s.Close()); err != nil {
			return err
		}
	}
	return b.indexSize(b.mid)
}

func (b *bench) searchAt(s *store.Store, n int) error {
	words := []struct{ what, query string }{{"English, 1 %", commonEnglish}, {"Chinese, 1 %", commonChinese},
		{"English, 0.01 %", rareEnglish}, {"Chinese, 0.01 %", rareChinese}, {"a question", makeQuestion()}}
	const times = 20
	for r := range rounds {
		if err := aPage(b, s, n, r); err != nil {
			return err
		}
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
			b.addNumber(w.what+" of "+formatCount(n), r, percentileMS(took, 0.5), "ms")
		}
	}
	return nil
}

// aPage measures what the times of searches are compared with: reading the newest 200 messages.
func aPage(b *bench, s *store.Store, n, round int) error {
	const times = 20
	var took []time.Duration
	for range times {
		start := time.Now()
		page, _, err := s.ReadPage(b.ctx, conversation, scrollback.PageQuery{Limit: 200})
		if err != nil {
			return err
		}
		took = append(took, time.Since(start))
		if len(page) != 200 {
			return fmt.Errorf("a page has %d messages", len(page))
		}
	}
	b.addNumber("a page of 200 of "+formatCount(n), round, percentileMS(took, 0.5), "ms")
	return nil
}

// makeQuestion consists of words as common as a language's, from the most common one to a rare
// one; no message holds all of them.
func makeQuestion() string {
	w := newWriter(1)
	return strings.Join([]string{w.english[0], w.english[5], w.english[40], w.english[300], w.english[2000], rareEnglish},
		" ")
}

// indexSize holds what the index weighs against the text in it: what is in its rows, and the
// pages of the database that they take.
func (b *bench) indexSize(n int) error {
	db, err := sql.Open("sqlite", "file:"+b.databaseFile(fmt.Sprint("messages-", n))+"?mode=ro")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }() // nothing was written
	var rows, pages, text float64
	err = db.QueryRowContext(b.ctx, `SELECT coalesce(sum(payload), 0), coalesce(sum(pgsize), 0), (SELECT sum(own_bytes) FROM messages)
		FROM dbstat WHERE name LIKE 'index~_%' ESCAPE '~'`).Scan(&rows, &pages, &text)
	if err != nil {
		return err
	}
	if rows == 0 {
		return errors.New("the database has no index")
	}
	b.addNumber("index bytes a message byte", 0, rows/text, "")
	b.addNumber("index pages a message byte", 0, pages/text, "")
	return nil
}
