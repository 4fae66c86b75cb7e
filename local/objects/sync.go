package objects

import (
	"os"
	"path/filepath"
	"runtime"
)

// SyncFile makes a file durable that was written below a folder: the file, which only its
// owner may read from then on, and the folders that name it. A key is the file's path
// from there, with slashes.
func SyncFile(root, key string) error {
	for path := filepath.Join(root, filepath.FromSlash(key)); ; path = filepath.Dir(path) {
		if err := syncOne(path); err != nil || path == root {
			return err
		}
	}
}

func syncOne(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	mode := os.O_RDWR
	switch {
	case info.IsDir() && runtime.GOOS == "windows":
		return nil // folders are not synced there
	case info.IsDir():
		mode = os.O_RDONLY
	}
	f, err := os.OpenFile(path, mode, 0)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		err = f.Chmod(0o600)
	}
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}
