// Package backups says what is known of backups: what one holds, which there are, and what is being done about them.
//
// Words it adds: backup (a file with a whole store as it was at one moment).
//
// It knows neither how backups are made nor who may see them.
package backups

import "time"

// Head says what a backup is of. Times are in Unix milliseconds.
type Head struct {
	Format        string `json:"format"`
	Version       int    `json:"version"`
	MadeAt        int64  `json:"made_at"`
	Program       string `json:"program"`  // its version
	Database      string `json:"database"` // "sqlite" or "postgres": where it was made of
	Conversations int64  `json:"conversations"`
	Messages      int64  `json:"messages"`
}

// MadeTime returns when a backup was made.
func (h Head) MadeTime() time.Time { return time.UnixMilli(h.MadeAt) }

// BackupContents are what was found in a backup.
type BackupContents struct {
	Head
	DatabaseBytes int64 `json:"database_bytes"`
	Objects       int64 `json:"objects"`
	ObjectBytes   int64 `json:"object_bytes"`
	Encrypted     bool  `json:"encrypted,omitempty"`
}

// MadeBackup is a backup that was made.
type MadeBackup struct {
	BackupContents
	Name    string   `json:"name"` // the file, or its name on a shelf
	Bytes   int64    `json:"bytes"`
	Removed []string `json:"removed,omitempty"` // older ones, by their names
}

// Backup is a backup on a shelf. MadeAt is in Unix milliseconds, by its name.
type Backup struct {
	Name      string `json:"name"`
	Bytes     int64  `json:"bytes"`
	MadeAt    int64  `json:"made_at"`
	Encrypted bool   `json:"encrypted,omitempty"`
}

// BackupStanding is where a server's backups go, and which there are, newest first. While one is being made or read,
// Running is "create" or "verify", since Since (Unix milliseconds).
type BackupStanding struct {
	To      string   `json:"to"`
	KeepMS  int64    `json:"keep_ms"`
	At      string   `json:"at"` // of the day, as 03:00
	Encrypt bool     `json:"encrypt"`
	Backups []Backup `json:"backups"`
	Running string   `json:"running,omitempty"`
	Since   int64    `json:"since,omitempty"`
}

// What may be running.
const (
	Create = "create"
	Verify = "verify"
)
