package notebook

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"github.com/gofrs/flock"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// lockMode lets everybody who may write to the folder take its locks, as far as the umask does.
const lockMode = 0o666

// Lock keeps every other process of this program from running cells of the notebook until
// release is called, and reads the file again: another may have run a cell since it was
// opened. The error is a conflict if another process holds the lock. A process that ends
// without a release, however it ends, holds it no longer.
//
// Where the folder has no locks, as on some network drives, nothing is locked.
func (f *File) Lock() (release func(), err error) {
	const op = "notebook.Lock"
	lock, held, err := takeLock(lockName(f.Path))
	switch {
	case errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.ENOLCK):
		release = func() {}
	case err != nil:
		if bad := f.Writable(); bad != nil {
			return nil, bad
		}
		return nil, scrollback.Errorf(scrollback.Refused, op, i18n.CannotBeWritten, f.Name, err)
	case !held:
		return nil, scrollback.Errorf(scrollback.Conflict, op,
			i18n.NotebookIsBeingRun)
	default:
		release = sync.OnceFunc(func() { releaseLock(lock) })
	}
	now, err := Open(f.Name)
	if err != nil {
		release()
		return nil, err
	}
	f.Notebook = now.Notebook
	f.sum = now.sum
	f.mode = now.mode
	return release, nil
}

// lockName returns the file that is locked, which is there only while somebody runs a cell. The
// notebook itself cannot be: it is replaced at each write.
func lockName(path string) string {
	base := filepath.Base(path)
	return filepath.Join(filepath.Dir(path), "."+strings.ToValidUTF8(base[:min(len(base), 200)], "")+".lock")
}

// takeLock takes the lock at a path, or returns false if another has it. A file that was
// removed between its opening and its locking locks nobody out, so that is tried again.
func takeLock(path string) (lock *flock.Flock, held bool, err error) {
	for {
		lock = flock.New(path, flock.SetPermissions(lockMode))
		if held, err = lock.TryLock(); err != nil || !held {
			return nil, false, errors.Join(err, lock.Close())
		}
		ours, err := lock.Stat()
		if err == nil {
			if there, err := os.Stat(path); err == nil && os.SameFile(ours, there) {
				return lock, true, nil
			}
		}
		if closed := lock.Close(); err != nil || closed != nil {
			return nil, false, errors.Join(err, closed)
		}
	}
}

// releaseLock removes the file while it is locked, so that nobody locks it in between. Windows
// removes no open file; there one that another process has opened meanwhile stays for it.
func releaseLock(lock *flock.Flock) {
	if runtime.GOOS == "windows" {
		_ = lock.Close()
	}
	_ = os.Remove(lock.Path())
	_ = lock.Close()
}
