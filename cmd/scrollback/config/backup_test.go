package config

import (
	"testing"
	"time"
)

func TestLastDue(t *testing.T) {
	b := Backup{At: 3*time.Hour + 30*time.Minute}
	zone := time.FixedZone("x", 2*3600)
	for now, want := range map[string]string{"2026-03-01 03:30": "2026-03-01 03:30", "2026-03-01 03:29": "2026-02-28 03:30",
		"2026-03-01 23:59": "2026-03-01 03:30", "2026-01-01 00:00": "2025-12-31 03:30"} {
		at, err := time.ParseInLocation("2006-01-02 15:04", now, zone)
		if err != nil {
			t.Fatal(err)
		}
		if got := b.LastDue(at).Format("2006-01-02 15:04"); got != want {
			t.Errorf("at %s it was due at %s, want %s", now, got, want)
		}
	}
}

func TestParseLifetime(t *testing.T) {
	for text, want := range map[string]time.Duration{"": 0, "12h": 12 * time.Hour, "30d": 720 * time.Hour,
		"2w": 336 * time.Hour, "0d": -1, "-1h": -1, "soon": -1, "99999999999d": -1} {
		got, err := ParseLifetime("keep", text)
		if want < 0 && err == nil || want >= 0 && (err != nil || got != want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
