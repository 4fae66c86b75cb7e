package config

import (
	"strconv"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/identity"
)

// Backup says where a server puts the backups that it makes each night.
type Backup struct {
	To      string        // a folder or a bucket's URL; empty makes none
	Keep    time.Duration // how long they stay
	At      time.Duration // since midnight
	Encrypt bool
}

// Defaults of the nightly backup.
const (
	backupAt   = 3 * time.Hour
	backupKeep = 30 * 24 * time.Hour
)

// parseBackup reads where backups go.
func (s *Settings) parseBackup(src settingsSource) (err error) {
	at := "backup" + dot
	s.Backup = Backup{To: src.readText("SCROLLBACK_BACKUP", at+"to"), Keep: backupKeep, At: backupAt,
		Encrypt: src.k.Bool(at + "encrypt")}
	if text := src.k.String(at + "keep"); text != "" {
		if s.Backup.Keep, err = ParseLifetime("backup.keep", text); err != nil {
			return err
		}
	}
	if text := src.k.String(at + "at"); text != "" {
		clock, err := time.Parse("15:04", strings.TrimSpace(text))
		if err != nil {
			return scrollback.ParamErrorf("scrollback", "backup.at", i18n.BackupAtIsTime, text)
		}
		s.Backup.At = time.Duration(clock.Hour())*time.Hour + time.Duration(clock.Minute())*time.Minute
	}
	return nil
}

// parseRecipients reads whom files are encrypted for.
func (s *Settings) parseRecipients(src settingsSource) error {
	s.Identity = src.env("SCROLLBACK_IDENTITY")
	s.Recipients = src.readTexts("encrypt" + dot + "recipients")
	for _, r := range s.Recipients {
		if identity.CheckRecipient(r) != nil {
			return scrollback.ParamErrorf("scrollback", "encrypt.recipients", i18n.RecipientIsNone, r)
		}
	}
	return nil
}

// ParseLifetime reads a time such as 90d or 12h; empty is 0. Errors name the flag or the setting.
func ParseLifetime(name, text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	const most = 100 * 365 * 24 * time.Hour
	bad := scrollback.ParamErrorf("scrollback", strings.TrimLeft(name, "-"), i18n.LifetimeIsTime, name, text)
	for unit, hours := range map[string]int{"d": 24, "w": 7 * 24} {
		if digits, ok := strings.CutSuffix(text, unit); ok {
			n, err := strconv.Atoi(digits)
			if err != nil || n <= 0 || n > int(most/time.Hour)/hours {
				return 0, bad
			}
			return time.Duration(n*hours) * time.Hour, nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || d > most {
		return 0, bad
	}
	return d, nil
}

// LastDue returns the newest time, in the zone of now, at which a backup was due.
func (b Backup) LastDue(now time.Time) time.Time {
	hour := int(b.At / time.Hour)
	minute := int(b.At % time.Hour / time.Minute)
	due := time.Date(now.Year(), now.Month(), now.Day(), hour, minute, 0, 0, now.Location())
	if due.After(now) {
		due = time.Date(now.Year(), now.Month(), now.Day()-1, hour, minute, 0, 0, now.Location())
	}
	return due
}
