package bundle

import (
	"bufio"
	"errors"
	"io"
	"strconv"
)

// readRecords hands on the records of an entry.
func (w *bundleWalker) readRecords(name string, body io.Reader) error {
	switch w.kind {
	case kindSegment:
		return readLines(name, body, w.visit.Segment)
	case kindBranch:
		return readLines(name, body, w.visit.Branch)
	case kindMention:
		return readLines(name, body, w.visit.Mention)
	case kindMessage:
		return readLines(name, body, w.visit.Message)
	case kindFold:
		return readLines(name, body, w.visit.Fold)
	case kindKept:
		return readLines(name, body, w.visit.Kept)
	case kindConversation, kindFile: // not of records
	}
	return nil
}

// readOne reads an entry that is one record.
func readOne[T any](w *bundleWalker, name string, body io.Reader, each func(T) error) error {
	text, err := io.ReadAll(body)
	if err != nil {
		return newDamageError("%q cannot be read", name)
	}
	var v T
	if err := decodeRecord(text, &v, name); err != nil || each == nil {
		return err
	}
	return each(v)
}

// readLines reads an entry of records, one per line.
func readLines[T any](name string, body io.Reader, each func(T) error) error {
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
			return newDamageError("line %d of %q is cut off", n, name)
		}
		var v T
		if err := decodeRecord(line, &v, "line "+strconv.Itoa(n)+" of "+name); err != nil {
			return err
		}
		if err := each(v); err != nil {
			return err
		}
	}
}

// checkManifest compares what was read with what should have been.
func (w *bundleWalker) checkManifest(body io.Reader) error {
	return readOne(w, manifestName, body, func(m Manifest) error {
		if len(m.Entries) != len(w.sum.Entries) {
			return newDamageError("its manifest lists %d entries, and there are %d", len(m.Entries), len(w.sum.Entries))
		}
		for i, e := range m.Entries {
			if e != w.sum.Entries[i] {
				return newDamageError("%q does not match the manifest", w.sum.Entries[i].Name)
			}
		}
		w.sum.Conversations = m.Conversations
		return nil
	})
}

// checkEnd checks that nothing follows the manifest.
func (w *bundleWalker) checkEnd() error {
	if _, err := w.tar.Next(); !errors.Is(err, io.EOF) {
		return newDamageError("something comes after its manifest")
	}
	n, err := io.Copy(io.Discard, w.in)
	if err != nil || n > 0 {
		return newDamageError("something comes after its end")
	}
	return nil
}
