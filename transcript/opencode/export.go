package opencode

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/scrollback-ai/scrollback/transcript"
)

// fromExport reads what "opencode export" wrote, message by message.
func fromExport(files fs.FS, name string) ([]*stored, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	s := &stored{}
	doc := transcript.NewDocument(f, transcript.MaxLine)
	fault := func(err error) ([]*stored, error) {
		bad, isBad := doc.Fault(err)
		if !isBad {
			return nil, err
		}
		s.complain(errors.New(bad.Reason))
		s.order()
		return s.whole(name)
	}
	for {
		field, err := doc.Next()
		if transcript.Ended(err) {
			s.order()
			return s.whole(name)
		}
		if err != nil {
			return fault(err)
		}
		if field == "messages" {
			damaged := false
			for raw, err := range doc.Items() {
				if err == nil {
					s.exported(raw)
					continue
				}
				bad, ours := doc.Fault(err)
				if !ours {
					return nil, err
				}
				s.complain(errors.New(bad.Reason))
				if whole := transcript.Mend(doc.Torn(), messageDepth); whole != nil {
					s.exported(whole)
				}
				damaged = true
			}
			if damaged { // nothing can be read behind them
				s.order()
				return s.whole(name)
			}
			continue
		}
		raw, err := doc.Value()
		if err == nil && field == "info" {
			if err := decode("info", raw, &s.info); err != nil {
				s.complain(err)
			}
		}
		if err != nil {
			return fault(err)
		}
	}
}

// messageDepth is in how many containers a part of a message is.
const messageDepth = 2

// whole is an export that says whose it is.
func (s *stored) whole(name string) ([]*stored, error) {
	if s.ID == "" {
		return nil, fmt.Errorf("%s: it does not say which session it is", path.Base(name))
	}
	s.ParentID = "" // what started it is not in the file
	return []*stored{s}, nil
}

// exported takes a message of an export.
func (s *stored) exported(raw []byte) {
	var both struct {
		Info  rawJSON   `json:"info"`
		Parts []rawJSON `json:"parts"`
	}
	var of struct{ ID string }
	if err := decode("a message", raw, &both); err != nil {
		s.complain(err)
		return
	}
	if err := decode("a message", both.Info, &of); err != nil || of.ID == "" {
		s.complain(fmt.Errorf("a message without an id"))
		return
	}
	m := s.add(of.ID, both.Info)
	if m == nil {
		return
	}
	for _, raw := range both.Parts {
		of.ID = ""
		if err := decode("a part", raw, &of); err != nil {
			s.complain(err)
			continue
		}
		if p, ok := s.piece(of.ID, raw); ok {
			m.parts = append(m.parts, p)
		}
	}
}
