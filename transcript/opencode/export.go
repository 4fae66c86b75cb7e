package opencode

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/scrollback-ai/scrollback/transcript"
)

// readExport reads what "opencode export" wrote, message by message.
func readExport(files fs.FS, name string) ([]*storedSession, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	s := &storedSession{}
	doc := transcript.NewDocument(f, transcript.MaxLine)
	fault := func(err error) ([]*storedSession, error) {
		bad, isBad := doc.ExplainFault(err)
		if !isBad {
			return nil, err
		}
		s.noteBad(errors.New(bad.Reason))
		s.sortMessages()
		return s.readWhole(name)
	}
	for {
		field, err := doc.Next()
		if transcript.IsEnd(err) {
			s.sortMessages()
			return s.readWhole(name)
		}
		if err != nil {
			return fault(err)
		}
		if field == "messages" {
			damaged := false
			for raw, err := range doc.Items() {
				if err == nil {
					s.addExported(raw)
					continue
				}
				bad, ours := doc.ExplainFault(err)
				if !ours {
					return nil, err
				}
				s.noteBad(errors.New(bad.Reason))
				if whole := transcript.MendValue(doc.TornItem(), messageDepth); whole != nil {
					s.addExported(whole)
				}
				damaged = true
			}
			if damaged { // nothing can be read behind them
				s.sortMessages()
				return s.readWhole(name)
			}
			continue
		}
		raw, err := doc.Value()
		if err == nil && field == "info" {
			if err := decodeJSON("info", raw, &s.sessionInfo); err != nil {
				s.noteBad(err)
			}
		}
		if err != nil {
			return fault(err)
		}
	}
}

// messageDepth is in how many containers a part of a message is.
const messageDepth = 2

// readWhole returns an export that says whose it is.
func (s *storedSession) readWhole(name string) ([]*storedSession, error) {
	if s.ID == "" {
		return nil, fmt.Errorf("%s: it does not say which session it is", path.Base(name))
	}
	s.ParentID = "" // what started it is not in the file
	return []*storedSession{s}, nil
}

// addExported takes a message of an export.
func (s *storedSession) addExported(raw []byte) {
	var both struct {
		Info  rawJSON   `json:"info"`
		Parts []rawJSON `json:"parts"`
	}
	var of struct{ ID string }
	if err := decodeJSON("a message", raw, &both); err != nil {
		s.noteBad(err)
		return
	}
	if err := decodeJSON("a message", both.Info, &of); err != nil || of.ID == "" {
		s.noteBad(fmt.Errorf("a message without an id"))
		return
	}
	m := s.addMessage(of.ID, both.Info)
	if m == nil {
		return
	}
	for _, raw := range both.Parts {
		of.ID = ""
		if err := decodeJSON("a part", raw, &of); err != nil {
			s.noteBad(err)
			continue
		}
		if p, ok := s.readPart(of.ID, raw); ok {
			m.parts = append(m.parts, p)
		}
	}
}
