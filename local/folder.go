package local

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/local/objects"
)

// folders are those that scrollback makes in its data folder.
var folders = []string{"objects", "context", "backup", "rescue"}

// others are the permissions of everybody but the owner.
const others fs.FileMode = 0o077

// tighten takes from others what they may do with a database and what is beside it, as
// far as it is our user's. A folder that holds something else as well is only reported:
// closing it could lock people out of what is theirs.
func tighten(dir, file string, log *slog.Logger) {
	names, err := filepath.Glob(escaped(file) + "*")
	if err != nil {
		return
	}
	for _, path := range names {
		if part := strings.TrimPrefix(path, file); slices.Contains([]string{"", "-wal", "-shm", "-journal", ".lock"}, part) {
			close(path, log)
		}
	}
	for _, name := range folders {
		close(filepath.Join(dir, name), log)
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode()&others == 0 {
		return
	}
	entries, err := os.ReadDir(dir)
	foreign := slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return !strings.HasPrefix(e.Name(), filepath.Base(file)) && !slices.Contains(folders, e.Name()) &&
			e.Name() != roomFile
	})
	if err != nil || foreign || !ours(info) {
		log.Info("others may look into the data folder; what is in the database is hidden from them", "folder", dir, "mode",
			info.Mode().Perm().String())
		return
	}
	close(dir, log)
}

// escaped is a path that a pattern matches as it is.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// close takes the permissions of others from what is our user's.
func close(path string, log *slog.Logger) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink != 0 || info.Mode()&others == 0 || !ours(info) {
		return
	}
	if err := os.Chmod(path, info.Mode().Perm()&^others); err != nil {
		log.Warn("others may read this, and it could not be changed", "path", path, "error", err)
	}
}

// roomBytes is how much has to fit for a folder to be ready.
const roomBytes = 64 << 10

// ready adds to ready that there is room in folders: a database can often write for a
// while in what it has already taken from a disk that is full.
func ready(first func(ctx context.Context) error, in ...string) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		if err := first(ctx); err != nil {
			return err
		}
		for _, dir := range in {
			if err := room(dir); err != nil {
				e := scrollback.Errorf(scrollback.Unavailable, "local.Ready", i18n.NothingCanBeWrittenTo, dir, err)
				if full(err) {
					e = e.Because(scrollback.ErrNoRoom)
				}
				return e
			}
		}
		return nil
	}
}

// both is ready if two things are.
func both(first, second func(ctx context.Context) error) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		if err := first(ctx); err != nil {
			return err
		}
		return second(ctx)
	}
}

// Sync makes a file durable that was written below a folder: the file, which only its
// owner may read from then on, and the folders that name it. A key is the file's path
// from there, with slashes.
func Sync(root, key string) error { return objects.Sync(root, key) }

// roomFile is written to see whether there is room. It has one name, so that programs
// that are killed leave one at most.
const roomFile = ".ready"

// room writes a file and takes it away again. Another program may do the same.
func room(dir string) error {
	path := filepath.Join(dir, roomFile)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, roomBytes))
	if removed := os.Remove(path); !errors.Is(removed, fs.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	return errors.Join(err, f.Close())
}
