// Package backup writes a whole store into one file, reads such files, and keeps them in folders and buckets.
//
// Words it adds: backup (a file with a database and its objects as they were at one moment), shelf (a folder or a
// bucket with backups).
//
// Invariants: a backup is one snapshot; a file that is not whole is never a backup; each thing in it has its hash;
// nothing is restored before the whole file was checked, and only where there is nothing yet.
//
// It knows concrete databases and object stores, and nothing of what conversations mean.
package backup

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/backups"
	"github.com/scrollback-ai/scrollback/internal/blob"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/identity"
	"github.com/scrollback-ai/scrollback/internal/plainjson"
	"github.com/scrollback-ai/scrollback/internal/seal"
	"github.com/scrollback-ai/scrollback/local/objects"
)

const op = "backup"

// Format is the name of the format, and Version its number.
const (
	Format  = "scrollback-backup"
	Version = 1
)

// The entries of a backup, in their order: the head, the database, objects by their keys, and the sums of all.
const (
	headEntry     = "backup.json"
	databaseEntry = "scrollback.db"
	objectFolder  = "objects/"
	sumsEntry     = "manifest.json"
)

// maxJSON bounds the entries that are read as a whole, in bytes.
const maxJSON = 256 << 20

// What is known of a backup, which the API tells too.
type (
	Head     = backups.Head
	Contents = backups.BackupContents
	Made     = backups.MadeBackup
	Entry    = backups.Backup
)

// entrySum is what an entry must be.
type entrySum struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// writer writes the entries of a backup.
type writer struct {
	out  *seal.Writer
	zip  *zstd.Encoder
	tar  *tar.Writer
	sums []entrySum
}

func newWriter(w io.Writer) (*writer, error) {
	out := seal.NewWriter(w)
	zip, err := zstd.NewWriter(out, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Internal, op, err)
	}
	return &writer{out: out, zip: zip, tar: tar.NewWriter(zip)}, nil
}

// add adds an entry. Errors of r come back as they are, those of writing as unavailable.
func (w *writer) add(name string, size int64, r io.Reader) error {
	err := w.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600,
		Format: tar.FormatPAX})
	if err != nil {
		return wrapWrite(err)
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(w.tar, sum), io.LimitReader(r, size))
	if err == nil && n < size {
		err = fmt.Errorf("%s: %w", name, io.ErrUnexpectedEOF)
	}
	w.sums = append(w.sums, entrySum{name, size, hex.EncodeToString(sum.Sum(nil))})
	return wrapWrite(err)
}

// addJSON adds an entry of one value.
func (w *writer) addJSON(name string, v any) error {
	text, err := plainjson.Marshal(v)
	if err != nil {
		return scrollback.Wrap(scrollback.Internal, op, err)
	}
	return w.add(name, int64(len(text)), bytes.NewReader(text))
}

// addObjects adds what a place has, but for what was written to try it. An object that is removed meanwhile, as
// by a purge, is left out.
func (w *writer) addObjects(ctx context.Context, from *objects.Store) error {
	for o, err := range from.Bucket.List(ctx, "") {
		if err != nil {
			return from.ExplainError(op, err)
		}
		if strings.HasPrefix(o.Key, probes) {
			continue
		}
		r, err := from.Bucket.Open(ctx, o.Key)
		if errors.Is(err, blob.ErrMissing) {
			continue
		}
		if err != nil {
			return from.ExplainError(op, err)
		}
		err = w.add(objectFolder+o.Key, r.Size(), r)
		_ = r.Close() // it was read
		if err != nil {
			return err
		}
	}
	return nil
}

// probes begin the keys of what is written to try a bucket.
const probes = ".scrollback/"

// end writes the sums, and the seal. Without them a file is not whole.
func (w *writer) end() error {
	if err := w.addJSON(sumsEntry, w.sums); err != nil {
		return err
	}
	if err := w.tar.Close(); err != nil {
		return wrapWrite(err)
	}
	if err := w.zip.Close(); err != nil {
		return wrapWrite(err)
	}
	return wrapWrite(writeSeal(w.out))
}

func wrapWrite(err error) error { return scrollback.Wrap(scrollback.Unavailable, op, err) }

// entryTaker gets the entries of a backup as they come: the database, with an empty key, and objects. It reads as much
// of one as it wants.
type entryTaker func(key string, size int64, r io.Reader) error

// read reads a backup to its end and compares each entry with its sum. Bytes that are not those that were written are
// damaged, and so is a file that was cut off, or has more than it should. An encrypted one is opened with keys.
func read(r io.Reader, keys identity.Keys, take entryTaker) (c Contents, err error) {
	source := &notingReader{r: r}
	defer func() {
		if err != nil && source.err != nil { // what came of it says nothing about the file
			err = scrollback.Wrap(scrollback.Unavailable, op, source.err)
		}
	}()
	plain, encrypted, err := keys.Open(source)
	if err != nil {
		return c, err
	}
	c.Encrypted = encrypted
	zip, err := zstd.NewReader(newSealReader(plain), zstd.WithDecoderMaxMemory(256<<20))
	if err != nil {
		return c, scrollback.Wrap(scrollback.Internal, op, err)
	}
	defer zip.Close()
	t := tar.NewReader(zip)
	text, sums, err := readJSONEntry(t, headEntry, nil)
	if err != nil {
		return c, notABackup(err)
	}
	switch err := json.Unmarshal(text, &c.Head); {
	case err != nil || c.Format != Format:
		return c, notABackup(err)
	case c.Version != Version:
		return c, scrollback.Errorf(scrollback.Refused, op, i18n.BackupOfAnotherVersion, c.Version, Version)
	}
	for {
		h, err := t.Next()
		if err != nil {
			return c, damaged(err)
		}
		if h.Name == sumsEntry {
			break
		}
		key, isObject := strings.CutPrefix(h.Name, objectFolder)
		if h.Typeflag != tar.TypeReg || !isObject && h.Name != databaseEntry || isObject && !fs.ValidPath(key) {
			return c, damaged(fmt.Errorf("%q", h.Name))
		}
		if !isObject {
			key = ""
			c.DatabaseBytes = h.Size
		} else {
			c.Objects++
			c.ObjectBytes += h.Size
		}
		sum := sha256.New()
		from := &notingReader{r: io.TeeReader(t, sum)}
		if take != nil {
			err = take(key, h.Size, from)
		}
		if err == nil {
			_, err = io.Copy(io.Discard, from)
		}
		if from.err != nil {
			return c, damaged(from.err)
		}
		if err != nil {
			return c, err
		}
		sums = append(sums, entrySum{h.Name, h.Size, hex.EncodeToString(sum.Sum(nil))})
	}
	if err := checkSums(t, sums); err != nil {
		return c, err
	}
	// The checks of what the tar is wrapped in come at their ends.
	return c, checkRest(zip)
}

// checkRest reads what follows a tar, which is zeros.
func checkRest(zip io.Reader) error {
	rest, err := io.ReadAll(io.LimitReader(zip, maxPadding+1))
	if err != nil {
		return damaged(err)
	}
	if len(rest) > maxPadding || len(bytes.Trim(rest, "\x00")) > 0 {
		return damaged(errors.New("more than it should have"))
	}
	return nil
}

// maxPadding bounds the zeros behind a tar, in bytes.
const maxPadding = 64 << 10

// notingReader keeps why reading failed.
type notingReader struct {
	r   io.Reader
	err error
}

func (n *notingReader) Read(p []byte) (int, error) {
	k, err := n.r.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // an end that something else wraps is that of a connection
		n.err = err
	}
	return k, err
}

// readJSONEntry reads the next entry, which must have a name, and adds its sum.
func readJSONEntry(t *tar.Reader, name string, sums []entrySum) ([]byte, []entrySum, error) {
	h, err := t.Next()
	if err == nil && (h.Name != name || h.Size > maxJSON) {
		err = fmt.Errorf("%q", h.Name)
	}
	if err != nil {
		return nil, nil, err
	}
	text, err := io.ReadAll(t)
	sum := sha256.Sum256(text)
	return text, append(sums, entrySum{name, h.Size, hex.EncodeToString(sum[:])}), err
}

// checkSums compares what was read with the last entry, which t is at.
func checkSums(t *tar.Reader, sums []entrySum) error {
	text, err := io.ReadAll(io.LimitReader(t, maxJSON))
	if err != nil {
		return damaged(err)
	}
	var want []entrySum
	if err := json.Unmarshal(text, &want); err != nil {
		return damaged(err)
	}
	if len(want) != len(sums) {
		return damaged(fmt.Errorf("%d entries instead of %d", len(sums), len(want)))
	}
	for i, sum := range sums {
		if sum != want[i] {
			return damaged(fmt.Errorf("%q", sum.Name))
		}
	}
	if _, err := t.Next(); !errors.Is(err, io.EOF) {
		return damaged(err)
	}
	return nil
}

func notABackup(err error) error {
	if own := asOwn(err); own != nil {
		return own
	}
	return scrollback.Errorf(scrollback.Invalid, op, i18n.NotABackup, err)
}

// damaged returns the error of a file that is not as it was written.
func damaged(err error) error {
	if own := asOwn(err); own != nil {
		return own
	}
	return scrollback.Errorf(scrollback.Invalid, op, i18n.BackupIsDamaged, err)
}

// asOwn returns an error that says by itself what is wrong with a file, or nil.
func asOwn(err error) error {
	var own *scrollback.Error
	if errors.As(err, &own) {
		return own
	}
	return nil
}
