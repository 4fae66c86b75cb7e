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

// restrictFolder takes from others what they may do with a database and what is beside it, as
// far as it is our user's. A folder that holds something else as well is only reported:
// closing it could lock people out of what is theirs.
func restrictFolder(dir, file string, log *slog.Logger) {
	names, err := filepath.Glob(escapePattern(file) + "*")
	if err != nil {
		return
	}
	for _, path := range names {
		if part := strings.TrimPrefix(path, file); slices.Contains([]string{"", "-wal", "-shm", "-journal", ".lock"}, part) {
			restrictFile(path, log)
		}
	}
	for _, name := range folders {
		restrictFile(filepath.Join(dir, name), log)
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
	if err != nil || foreign || !isOwnFile(info) {
		log.Info("others may look into the data folder; what is in the database is hidden from them", "folder", dir, "mode",
			info.Mode().Perm().String())
		return
	}
	restrictFile(dir, log)
}

// escapePattern returns a path that a pattern matches as it is.
func escapePattern(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// restrictFile takes the permissions of others from what is our user's.
func restrictFile(path string, log *slog.Logger) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink != 0 || info.Mode()&others == 0 || !isOwnFile(info) {
		return
	}
	if err := os.Chmod(path, info.Mode().Perm()&^others); err != nil {
		log.Warn("others may read this, and it could not be changed", "path", path, "error", err)
	}
}

// roomBytes is how much has to fit for a folder to be ready.
const roomBytes = 64 << 10

// addRoomCheck adds to ready that there is room in folders: a database can often write for a
// while in what it has already taken from a disk that is full.
func addRoomCheck(first func(ctx context.Context) error, in ...string) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		if err := first(ctx); err != nil {
			return err
		}
		for _, dir := range in {
			if err := probeRoom(dir); err != nil {
				e := scrollback.Errorf(scrollback.Unavailable, "local.Ready", i18n.NothingCanBeWrittenTo, dir, err)
				if isDiskFull(err) {
					e = e.WithReason(scrollback.ErrNoRoom)
				}
				return e
			}
		}
		return nil
	}
}

// joinChecks is ready if two things are.
func joinChecks(first, second func(ctx context.Context) error) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		if err := first(ctx); err != nil {
			return err
		}
		return second(ctx)
	}
}

// SyncFile makes a file durable that was written below a folder: the file, which only its
// owner may read from then on, and the folders that name it. A key is the file's path
// from there, with slashes.
func SyncFile(root, key string) error { return objects.SyncFile(root, key) }

// roomFile is written to see whether there is room. It has one name, so that programs
// that are killed leave one at most.
const roomFile = ".ready"

// probeRoom writes a file and takes it away again. Another program may do the same.
func probeRoom(dir string) error {
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
