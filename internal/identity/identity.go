// Package identity has the keys by which files are encrypted and opened: the identity of this machine, and the
// recipients that people name besides. Files are those of age (age-encryption.org), which other programs open too.
//
// Words it adds: identity (a secret key, which opens), recipient (its public half, which a file is encrypted for).
//
// Invariants: an identity that is there is never written over; a file that somebody names is used or refused, never
// another in its place; what was changed or cut off anywhere gives an error before its end; memory does not grow with
// the file.
//
// It knows neither the environment nor what is in the files.
package identity

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filippo.io/age"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

const op = "identity"

// FileName is the name of the file with the identity, in the folder that a program chooses.
const FileName = "identity.txt"

// magic begins each encrypted file.
const magic = "age-encryption.org/v1\n"

// secretPrefix begins an identity as text.
const secretPrefix = "AGE-SECRET-KEY-1"

// maxFile bounds a file of identities, in bytes.
const maxFile = 1 << 20

// Keys are those of this machine. The zero value opens nothing and encrypts for nobody.
type Keys struct {
	File       string   // where the identity is kept, and made at the first need
	Given      string   // an identity, or a file with some, in place of File; such a file has to be there
	Recipients []string // whom files are encrypted for besides, as age1…
}

// Own is the identity of this machine, as a person sees it.
type Own struct {
	Recipient string `json:"recipient"`
	File      string `json:"file,omitempty"` // empty for one that was given as text
	Made      bool   `json:"made"`           // now
}

// CheckRecipient returns why a text is not a recipient.
func CheckRecipient(text string) error {
	_, err := age.ParseX25519Recipient(strings.TrimSpace(text))
	return err
}

// Sniff reports whether a file with this beginning is encrypted.
func Sniff(head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) }

// Own returns the identity of this machine, and makes it where there is none and none was named.
func (k Keys) Own() (Own, error) {
	all, err := k.read()
	if err == nil {
		return k.describe(all), nil
	}
	if k.Given != "" || k.File == "" || !errors.Is(err, fs.ErrNotExist) {
		return Own{}, k.explain(err)
	}
	failed := create(k.File)
	if failed != nil && !errors.Is(failed, fs.ErrExist) { // else another program was faster
		return Own{}, scrollback.Errorf(scrollback.Unavailable, op, i18n.IdentityCannotBeMade, k.File, failed)
	}
	if all, err = k.read(); err != nil {
		return Own{}, k.explain(err)
	}
	own := k.describe(all)
	own.Made = failed == nil
	return own, nil
}

// Make is [Keys.Own] for a person who asks for the identity: it also makes the file that was named.
func (k Keys) Make() (Own, error) {
	if k.Given != "" && !isSecret(k.Given) {
		k.File = k.Given
		k.Given = ""
	}
	return k.Own()
}

func (k Keys) describe(all []*age.X25519Identity) Own {
	return Own{Recipient: all[0].Recipient().String(), File: k.path()}
}

func isSecret(text string) bool { return strings.HasPrefix(strings.TrimSpace(text), secretPrefix) }

// path returns the file with the identity; none if it was given as text.
func (k Keys) path() string {
	switch {
	case k.Given == "":
		return k.File
	case isSecret(k.Given):
		return ""
	}
	return k.Given
}

// read returns the identities there are, the first of which is this machine's. A file that is not there is
// [fs.ErrNotExist].
func (k Keys) read() ([]*age.X25519Identity, error) {
	text := []byte(k.Given)
	if path := k.path(); path != "" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }() // read-only
		if text, err = io.ReadAll(io.LimitReader(f, maxFile)); err != nil {
			return nil, err
		}
	}
	var out []*age.X25519Identity
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		id, err := age.ParseX25519Identity(string(line))
		if err != nil {
			return nil, errNoIdentity // what stands there is not shown: it may be half a key
		}
		out = append(out, id)
	}
	if len(out) == 0 {
		if k.path() == "" {
			return nil, fs.ErrNotExist
		}
		return nil, errNoIdentity
	}
	return out, nil
}

var errNoIdentity = errors.New("no identity")

// explain returns why there is no identity, for a person.
func (k Keys) explain(err error) error {
	path := k.path()
	switch {
	case path == "" && k.Given != "":
		return scrollback.Errorf(scrollback.Invalid, op, i18n.IdentityIsNone)
	case path == "":
		return scrollback.Errorf(scrollback.NotFound, op, i18n.IdentityHasNoPlace)
	case errors.Is(err, fs.ErrNotExist):
		return scrollback.Errorf(scrollback.NotFound, op, i18n.IdentityIsNotThere, path)
	case errors.Is(err, errNoIdentity):
		return scrollback.Errorf(scrollback.Invalid, op, i18n.IdentityFileHasNone, path)
	}
	return scrollback.Errorf(scrollback.Unavailable, op, i18n.IdentityCannotBeRead, path, err)
}

// create makes a file with a new identity, which only its owner may read. One that exists is [fs.ErrExist].
func create(path string) (err error) {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".identity-*") // of mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // it has another name by then, or none is wanted
	_, err = fmt.Fprintf(f, "# The identity of this machine for scrollback. It opens what was encrypted with --encrypt:\n"+
		"# keep a copy where the machine cannot take it along.\n# recipient: %s\n%s\n", id.Recipient(), id)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	err = os.Link(f.Name(), path) // a file that is there stays, whoever made it
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, there := os.Lstat(path); !errors.Is(there, fs.ErrNotExist) {
		return fs.ErrExist
	}
	return os.Rename(f.Name(), path) // not every disk has links
}

// Encrypt returns a writer that encrypts what it gets for this machine and the recipients, and writes that to w. Only
// what was closed is whole. Closing leaves w open.
func (k Keys) Encrypt(w io.Writer) (io.WriteCloser, error) {
	own, err := k.Own()
	if err != nil {
		return nil, err
	}
	var to []age.Recipient
	for _, text := range slices.Concat([]string{own.Recipient}, k.Recipients) {
		r, err := age.ParseX25519Recipient(strings.TrimSpace(text))
		if err != nil {
			return nil, scrollback.ParamErrorf(op, "recipients", i18n.RecipientIsNone, text)
		}
		to = append(to, r)
	}
	out, err := age.Encrypt(w, to...)
	return out, scrollback.Wrap(scrollback.Unavailable, op, err)
}

// Open returns a reader of what r holds: of what is in it, if it is encrypted, else of r as it is. Errors of the reader
// that are not r's own are invalid.
func (k Keys) Open(r io.Reader) (out io.Reader, encrypted bool, err error) {
	in := bufio.NewReaderSize(r, 64<<10)
	head, _ := in.Peek(len(magic)) // a shorter file is not encrypted
	if !Sniff(head) {
		return in, false, nil // whatever is wrong with it is found when it is read
	}
	ids, err := k.openers()
	if err != nil {
		return nil, true, err
	}
	plain, err := age.Decrypt(in, ids...)
	if err != nil {
		return nil, true, k.refuse(err)
	}
	return damageReader{plain}, true, nil
}

// File is a file that can be read from anywhere.
type File interface {
	io.ReadSeeker
	io.ReaderAt
}

// OpenFile is [Keys.Open] for what is read from more than one place: nothing of it is written anywhere. f is at its
// beginning.
func (k Keys) OpenFile(f File) (out File, encrypted bool, err error) {
	head := make([]byte, len(magic))
	if n, _ := f.ReadAt(head, 0); !Sniff(head[:n]) { // whatever is wrong with it is found when it is read
		return f, false, nil
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, true, scrollback.Wrap(scrollback.Unavailable, op, err)
	}
	ids, err := k.openers()
	if err != nil {
		return nil, true, err
	}
	plain, length, err := age.DecryptReaderAt(f, size, ids...)
	if err != nil {
		return nil, true, k.refuse(err)
	}
	return io.NewSectionReader(damageReaderAt{plain}, 0, length), true, nil
}

// openers returns the identities that are tried.
func (k Keys) openers() ([]age.Identity, error) {
	all, err := k.read()
	if err != nil {
		if path := k.path(); errors.Is(err, fs.ErrNotExist) && path != "" {
			return nil, scrollback.Errorf(scrollback.Refused, op, i18n.EncryptedAndNoIdentity, path)
		}
		return nil, k.explain(err)
	}
	var out []age.Identity
	for _, id := range all {
		out = append(out, id)
	}
	return out, nil
}

// refuse returns why an encrypted file cannot be opened.
func (k Keys) refuse(err error) error {
	var none *age.NoIdentityMatchError
	if !errors.As(err, &none) {
		return damaged(err)
	}
	all, readErr := k.read()
	if readErr != nil {
		return k.explain(readErr)
	}
	return scrollback.Errorf(scrollback.Refused, op, i18n.NoIdentityFits, k.describe(all).Recipient)
}

func damaged(err error) error {
	return scrollback.Errorf(scrollback.Invalid, op, i18n.EncryptedIsDamaged, err)
}

// explainRead returns the error of a read of an encrypted file. Those that have a code are the file's own.
func explainRead(err error) error {
	var own *scrollback.Error
	if err == nil || err == io.EOF || errors.As(err, &own) { //nolint:errorlint // an end that is wrapped is none
		return err
	}
	return damaged(err)
}

type damageReader struct{ r io.Reader }

func (d damageReader) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	return n, explainRead(err)
}

type damageReaderAt struct{ r io.ReaderAt }

func (d damageReaderAt) ReadAt(p []byte, off int64) (int, error) {
	n, err := d.r.ReadAt(p, off)
	return n, explainRead(err)
}
