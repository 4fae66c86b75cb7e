// Package stopped keeps which sessions of other agents have stopped and are to be imported, and lets one program at a
// time import them.
//
// Words it adds: request (a session that stopped), drain (importing all requests, those too that come meanwhile),
// watch (a program that follows what agents keep, so that nothing is to be imported).
//
// Invariants: however many sessions stop at once, one program imports; a request that comes while it does is imported
// after it, so that the last of a burst always is; a request that is lost to a crash is only late, for the next import
// brings it.
//
// It may not know what importing is.
package stopped

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// Request is a session that stopped. Transcript is its file, if it has one of its own; Answer is what was said last,
// as far as the agent tells.
type Request struct {
	Agent      string    `json:"agent"`
	Session    string    `json:"session"`
	Transcript string    `json:"transcript,omitempty"`
	Answer     string    `json:"answer,omitempty"`
	At         time.Time `json:"at"`

	Whole bool `json:"-"` // the file has the answer: nothing more of it comes
}

// Where things are in the data folder.
const (
	folder    = "stopped"
	lockName  = "lock"
	watchName = "watch"
)

// Times of waiting for a file: how long at most, how long it must not have changed, and between two looks.
const (
	waitMost  = 10 * time.Second
	waitQuiet = 1200 * time.Millisecond
	waitLook  = 50 * time.Millisecond
)

// answerBytes bounds what of an answer is looked for.
const answerBytes = 200

// maxRequests bounds the requests of a round, and maxBytes the size of each.
const (
	maxRequests = 1000
	maxBytes    = 64 << 10
)

// Add adds a request to those of a data folder, in the place of an older one of the same session.
func Add(dir string, r Request) error {
	in := filepath.Join(dir, folder)
	if err := os.MkdirAll(in, 0o700); err != nil {
		return err
	}
	r.Answer = r.Answer[:min(len(r.Answer), answerBytes)]
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(r.Agent + "\x00" + r.Session))
	draft, err := os.CreateTemp(in, "*.draft")
	if err != nil {
		return err
	}
	_, err = draft.Write(raw)
	err = errors.Join(err, draft.Close())
	if err == nil {
		err = os.Rename(draft.Name(), filepath.Join(in, hex.EncodeToString(sum[:8])+".json"))
	}
	if err != nil {
		return errors.Join(err, os.Remove(draft.Name()))
	}
	return nil
}

// HoldWatch says that somebody follows what all agents keep, until release is called. It fails if it cannot be said.
func HoldWatch(dir string) (release func(), err error) {
	if err := os.MkdirAll(filepath.Join(dir, folder), 0o700); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(dir, folder, watchName), flock.SetPermissions(0o600))
	if _, err := lock.TryRLock(); err != nil {
		return nil, err
	}
	return func() { _ = lock.Unlock() }, nil // it ends with the program, too
}

// IsWatched reports whether somebody follows what all agents keep.
func IsWatched(dir string) bool {
	name := filepath.Join(dir, folder, watchName)
	if _, err := os.Stat(name); err != nil {
		return false
	}
	lock := flock.New(name, flock.SetPermissions(0o600))
	free, err := lock.TryLock()
	if free {
		_ = lock.Unlock() // nobody else waits for it
	}
	return err == nil && !free
}

// Drain imports the requests of a data folder until there are none, each once its file is quiet or holds the answer.
// If another program does so already it returns at once: that one imports these, too. A request goes before it is
// imported, so that a newer one of the same session counts.
func Drain(ctx context.Context, dir string, bring func(ctx context.Context, r Request) error) error {
	in := filepath.Join(dir, folder)
	lock := flock.New(filepath.Join(in, lockName), flock.SetPermissions(0o600))
	var failed error
	for ctx.Err() == nil {
		held, err := lock.TryLock()
		if err != nil || !held {
			return errors.Join(failed, err)
		}
		for {
			all := list(in)
			if len(all) == 0 || ctx.Err() != nil {
				break
			}
			for _, name := range all {
				r, ok := take(name)
				if !ok {
					continue
				}
				r.Whole = r.await(ctx)
				if err := bring(ctx, r); err != nil {
					failed = errors.Join(failed, err)
				}
			}
		}
		if err := lock.Unlock(); err != nil {
			return errors.Join(failed, err)
		}
		if len(list(in)) == 0 { // else one came before the lock was free
			break
		}
	}
	return failed
}

// list lists the files of requests, oldest first.
func list(in string) (out []string) {
	entries, err := os.ReadDir(in)
	if err != nil {
		return nil
	}
	changed := map[string]time.Time{}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), ".json") && len(out) < maxRequests {
			name := filepath.Join(in, e.Name())
			changed[name] = info.ModTime()
			out = append(out, name)
		}
	}
	slices.SortFunc(out, func(a, b string) int { return changed[a].Compare(changed[b]) })
	return out
}

// takenEnd ends the name of a request that is taken.
const takenEnd = ".taken"

// take reads a request and removes it. It is put aside first: a newer one of the session may come to its place
// meanwhile, and stays.
func take(name string) (r Request, ok bool) {
	aside := name + takenEnd
	if err := os.Rename(name, aside); err != nil {
		return r, false
	}
	defer os.Remove(aside) //nolint:errcheck // the next one that is taken is put over it
	f, err := os.Open(aside)
	if err != nil {
		return r, false
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxBytes))
	return r, err == nil && json.Unmarshal(raw, &r) == nil
}

// await waits until the file of a session has the answer, which it reports, or has not changed for a moment.
func (r Request) await(ctx context.Context) (whole bool) {
	if r.Transcript == "" {
		return false
	}
	end := time.NewTimer(waitMost)
	defer end.Stop()
	look := time.NewTicker(waitLook)
	defer look.Stop()
	for {
		if r.Answer != "" && r.holdsAnswer() {
			return true
		}
		info, err := os.Stat(r.Transcript)
		if err != nil || time.Since(info.ModTime()) >= waitQuiet {
			return false
		}
		select {
		case <-look.C:
		case <-end.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// tailBytes is how much of the end of a file is looked through for an answer.
const tailBytes = 256 << 10

// holdsAnswer reports whether the end of the file has the answer, as JSON has it.
func (r Request) holdsAnswer() bool {
	f, err := os.Open(r.Transcript)
	if err != nil {
		return false
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > tailBytes {
		if _, err := f.Seek(-tailBytes, io.SeekEnd); err != nil {
			return false
		}
	}
	tail, err := io.ReadAll(io.LimitReader(f, tailBytes))
	if err != nil || !bytes.HasSuffix(tail, []byte("\n")) {
		return false
	}
	var quoted bytes.Buffer
	e := json.NewEncoder(&quoted)
	e.SetEscapeHTML(false)
	if e.Encode(strings.ToValidUTF8(r.Answer, "")) != nil {
		return false
	}
	return bytes.Contains(tail, bytes.Trim(bytes.TrimSpace(quoted.Bytes()), `"`))
}
