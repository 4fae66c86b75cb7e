package relay

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/merge"
)

// known is which records are in a vault, as far as this store has published or read them: the first bytes of their
// elements. Its file only grows, and one that is lost costs that everything is published once more.
type known struct {
	file  string
	all   map[key]bool
	fresh []key
}

const knownSize = 8 // bytes of an element in the file

func openKnown(file string) (*known, error) {
	k := &known{file: file, all: map[key]bool{}}
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, scrollback.Wrap(scrollback.Unavailable, op, err)
	}
	for ; len(text) >= knownSize; text = text[knownSize:] { // what was cut off at its end says nothing
		k.all[key(binary.LittleEndian.Uint64(text))] = true
	}
	return k, nil
}

// key is what a record is known by: its element, and the conversation that it is of.
type key uint64

func newKey(of scrollback.ConversationID, h merge.Hash) key {
	sum := sha256.Sum256(append([]byte(of), h[:]...))
	return key(binary.LittleEndian.Uint64(sum[:]))
}

func (k *known) add(all ...key) {
	for _, n := range all {
		if !k.all[n] {
			k.all[n] = true
			k.fresh = append(k.fresh, n)
		}
	}
}

// save appends what was added.
func (k *known) save() (err error) {
	if len(k.fresh) == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(k.file), 0o700); err != nil {
		return scrollback.Wrap(scrollback.Unavailable, op, err)
	}
	f, err := os.OpenFile(k.file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return scrollback.Wrap(scrollback.Unavailable, op, err)
	}
	defer func() { err = scrollback.Wrap(scrollback.Unavailable, op, errors.Join(err, f.Close())) }()
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if _, err := f.Seek(end-end%knownSize, io.SeekStart); err != nil {
		return err
	}
	text := make([]byte, 0, knownSize*len(k.fresh))
	for _, n := range k.fresh {
		text = binary.LittleEndian.AppendUint64(text, uint64(n))
	}
	if _, err := f.Write(text); err != nil {
		return err
	}
	k.fresh = nil
	return f.Sync()
}

// forget makes everything unknown: all is published once more.
func (k *known) forget() error {
	clear(k.all)
	k.fresh = nil
	if err := os.Remove(k.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return scrollback.Wrap(scrollback.Unavailable, op, err)
	}
	return nil
}
