package bundle

import (
	"bufio"
	"errors"
	"io"
	"strconv"
)

// records hands on the records of an entry.
func (w *walker) records(name string, body io.Reader) error {
	switch w.kind {
	case kindSegment:
		return lines(name, body, w.visit.Segment)
	case kindBranch:
		return lines(name, body, w.visit.Branch)
	case kindMention:
		return lines(name, body, w.visit.Mention)
	case kindMessage:
		return lines(name, body, w.visit.Message)
	case kindFold:
		return lines(name, body, w.visit.Fold)
	case kindConversation, kindFile: // not of records
	}
	return nil
}

// one reads an entry that is one record.
func one[T any](w *walker, name string, body io.Reader, each func(T) error) error {
	text, err := io.ReadAll(body)
	if err != nil {
		return damaged("%q cannot be read", name)
	}
	var v T
	if err := decode(text, &v, name); err != nil || each == nil {
		return err
	}
	return each(v)
}

// lines reads an entry of records, one per line.
func lines[T any](name string, body io.Reader, each func(T) error) error {
	if each == nil {
		return nil
	}
	in := bufio.NewReaderSize(body, 64<<10)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		if err != nil {
			return damaged("line %d of %q is cut off", n, name)
		}
		var v T
		if err := decode(line, &v, "line "+strconv.Itoa(n)+" of "+name); err != nil {
			return err
		}
		if err := each(v); err != nil {
			return err
		}
	}
}

// manifest compares what was read with what should have been.
func (w *walker) manifest(body io.Reader) error {
	return one(w, manifestName, body, func(m Manifest) error {
		if len(m.Entries) != len(w.sum.Entries) {
			return damaged("its manifest lists %d entries, and there are %d", len(m.Entries), len(w.sum.Entries))
		}
		for i, e := range m.Entries {
			if e != w.sum.Entries[i] {
				return damaged("%q does not match the manifest", w.sum.Entries[i].Name)
			}
		}
		w.sum.Conversations = m.Conversations
		return nil
	})
}

// end checks that nothing follows the manifest.
func (w *walker) end() error {
	if _, err := w.tar.Next(); !errors.Is(err, io.EOF) {
		return damaged("something comes after its manifest")
	}
	n, err := io.Copy(io.Discard, w.in)
	if err != nil || n > 0 {
		return damaged("something comes after its end")
	}
	return nil
}
