package search

import (
	"testing"
	"time"
)

// TestZones: the days of operators, of dates and of messages are those of one zone.
func TestZones(t *testing.T) {
	for _, name := range []string{"UTC", "Pacific/Kiritimati", "America/Los_Angeles"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		at := func(y int, m time.Month, d, h int) int64 { return time.Date(y, m, d, h, 0, 0, 0, zone).UnixMilli() }
		now := time.Date(2026, 5, 28, 23, 30, 0, 0, zone)
		a, err := parseQuery("heron on:2026-03-05", now)
		if err != nil || a.from != at(2026, 3, 5, 0) || a.to != at(2026, 3, 6, 0) {
			t.Errorf("%s: on:2026-03-05 is from %d to %d, %v", name, a.from, a.to, err)
		}
		a, err = parseQuery("heron after:2026-03 before:2026-04-01", now)
		if err != nil || a.from != at(2026, 3, 1, 0) || a.to != at(2026, 4, 1, 0) {
			t.Errorf("%s: March is from %d to %d, %v", name, a.from, a.to, err)
		}
		a, err = parseQuery("the heron yesterday", now)
		if err != nil || len(a.dates) != 1 || a.dates[0].from != at(2026, 5, 27, 0) || a.dates[0].to != at(2026, 5, 28, 0) {
			t.Errorf("%s: yesterday is %+v, %v", name, a.dates, err)
		}
		for hour, want := range map[int]float64{-1: 0, 0: 1, 23: 1, 24: 0} { // of the day
			said := time.Date(2026, 5, 27, 0, 30, 0, 0, zone).Add(time.Duration(hour) * time.Hour)
			if got := scoreDates(a.dates, said, nil); got != want {
				t.Errorf("%s: what was said at %s counts %v for yesterday, want %v", name, said, got, want)
			}
		}
		a, err = parseQuery("the heron of January 1", now) // of a year that is guessed
		if err != nil || scoreDates(a.dates, time.Date(2024, 1, 1, 0, 30, 0, 0, zone), nil) != otherYear ||
			scoreDates(a.dates, time.Date(2023, 12, 31, 23, 30, 0, 0, zone), nil) != 0 {
			t.Errorf("%s: January 1 is another day in another year: %+v, %v", name, a.dates, err)
		}
	}
}
