package socket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/scrollback-ai/scrollback/internal/hook"
	"github.com/scrollback-ai/scrollback/internal/store/evidence"
)

const (
	lockName  = "hook.lock"     // is held by whose the socket is
	draftName = "hook.sock.new" // a folder in which the socket is made
)

// Bounds of a server.
const (
	atOnce    = 16               // hooks
	maxWait   = 30 * time.Second // of a question
	askWithin = 5 * time.Second  // of a connection that asks nothing
	takeOver  = 2 * time.Second  // between two looks whether the socket is free
)

// ErrUnsupported is why there is no socket on this system: the rights of one are not kept there.
var ErrUnsupported = errors.New("this system has no sockets for one user alone")

// Server answers hooks.
type Server struct {
	Dir      string // the data folder
	Store    string // names the store
	Evidence hook.Evidence
	Log      *slog.Logger

	Began func() // is called when the socket is there; nil for nobody
}

// Serve answers hooks over the socket of the data folder until ctx ends. While another program has the socket it waits
// until that ends. It fails if no socket can be made there.
func (s *Server) Serve(ctx context.Context) error {
	if runtime.GOOS == "windows" {
		return ErrUnsupported
	}
	lock := flock.New(filepath.Join(s.Dir, lockName), flock.SetPermissions(0o600))
	if held, err := lock.TryLockContext(ctx, takeOver); !held {
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("%s: %w", lockName, err)
	}
	defer func() { _ = lock.Unlock() }() // it ends with the program, too
	l, err := listen(s.Dir)
	if err != nil {
		return err
	}
	if s.Began != nil {
		s.Began()
	}
	s.answerAll(ctx, l)
	return nil
}

// listen makes the socket, in the place of one that a killed program left. The lock must be held. It is made in a
// folder that only its owner may enter, so that it is nobody else's for a moment.
func listen(dir string) (*net.UnixListener, error) {
	draft := filepath.Join(dir, draftName)
	if err := os.RemoveAll(draft); err != nil { // of a killed program
		return nil, err
	}
	if err := os.Mkdir(draft, 0o700); err != nil {
		return nil, err
	}
	defer os.RemoveAll(draft) //nolint:errcheck // the next one removes it
	made := filepath.Join(draft, FileName)
	address, remove, err := shorten(made)
	if err != nil {
		return nil, err
	}
	defer remove()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: address, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // it is elsewhere by then
	err = os.Chmod(made, 0o600)
	if err == nil {
		err = os.Rename(made, filepath.Join(dir, FileName))
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// answerAll answers who connects until ctx ends. Then the socket goes.
func (s *Server) answerAll(ctx context.Context, l *net.UnixListener) {
	stop := context.AfterFunc(ctx, func() {
		if err := os.Remove(filepath.Join(s.Dir, FileName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.Log.Warn("the socket of hooks stays", "error", err)
		}
		_ = l.Close() // it takes nobody any more
	})
	defer stop()
	var all sync.WaitGroup
	defer all.Wait()
	slots := make(chan struct{}, atOnce)
	for {
		c, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return
			}
			select { // too many files are open
			case <-ctx.Done():
				return
			case <-time.After(100 * time.Millisecond):
			}
			continue
		}
		select {
		case slots <- struct{}{}:
			all.Go(func() {
				defer func() { <-slots }()
				s.answer(ctx, c)
			})
		default:
			_ = c.Close() // that hook looks things up by itself
		}
	}
}

// answer answers the questions of one hook.
func (s *Server) answer(ctx context.Context, c net.Conn) {
	defer func() {
		_ = c.Close() // that it ends is all that there is to say
		if bad := recover(); bad != nil {
			s.Log.Error("a hook could not be answered", "error", bad)
		}
	}()
	t := newTalk(c, maxQuestion)
	for first := true; ; first = false {
		within, cancel := context.WithTimeout(ctx, askWithin)
		stop := t.until(within)
		var err error
		if first {
			err = t.out.Encode(greeting{protocol, s.Store})
		}
		var q question
		if err == nil {
			err = t.in.Decode(&q)
		}
		stop()
		cancel()
		if err != nil {
			return
		}
		if err := s.answerOne(ctx, t, q); err != nil {
			return
		}
	}
}

// answerOne answers a question. It fails if there is nobody any more who reads the answer.
func (s *Server) answerOne(ctx context.Context, t *talk, q question) error {
	ctx, cancel := context.WithTimeout(ctx, min(time.Duration(q.MS)*time.Millisecond, maxWait))
	defer cancel()
	stop := t.until(ctx)
	defer stop()
	var out reply
	var err error
	var unheard error // while something was judged
	switch {
	case q.Find != nil:
		told := map[evidence.Seen]bool{}
		for _, seen := range q.Find.Told {
			told[seen] = true
		}
		var a evidence.Answer
		a, err = s.Evidence.Find(ctx, evidence.Query{Prompt: q.Find.Prompt, Place: t.openPlace(q.Find.Place, &unheard),
			Session: q.Find.Session, Told: told, Kept: q.Find.Kept, Most: q.Find.Most})
		a.Facts.Features = nil // nobody weighs them there
		out.Answer = &a
	case q.Stand != nil:
		out.List = &list{}
		out.List.Found, err = s.Evidence.Stand(ctx, t.openPlace(q.Stand.Place, &unheard), q.Stand.Session, q.Stand.Since)
	case q.HandBack != nil:
		out.List = &list{}
		out.List.Found, err = s.Evidence.HandBack(ctx, q.HandBack.Session, q.HandBack.Said)
	default:
		return fs.ErrInvalid
	}
	if unheard != nil {
		return unheard
	}
	if err != nil {
		out = reply{Error: err.Error()}
	}
	return t.out.Encode(out)
}

// openPlace returns the place of a question, whose folders the hook judges. What it cannot be asked any more is not of
// the place; unheard gets why.
func (t *talk) openPlace(p place, unheard *error) evidence.Place {
	judge := func(r reply) bool {
		var j judgement
		if *unheard == nil {
			*unheard = t.out.Encode(r)
		}
		if *unheard == nil {
			*unheard = t.in.Decode(&j)
		}
		return *unheard == nil && j.Yes
	}
	out := evidence.Place{Folders: p.Folders, Without: p.Without}
	if p.Has {
		out.Has = func(folder string) bool { return judge(reply{Has: &folder}) }
	}
	if p.Exclude {
		out.Exclude = func(tool, folder string) bool { return judge(reply{Exclude: &[2]string{tool, folder}}) }
	}
	return out
}
