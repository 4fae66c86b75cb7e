package transcript_test

import (
	"testing"

	"github.com/scrollback-ai/scrollback/transcript"
)

func TestTimes(t *testing.T) {
	for n, want := range map[int64]int64{0: 0, -5: 0, 1_763_800_000: 1_763_800_000_000,
		1_763_800_000_123: 1_763_800_000_123,
		transcript.Latest: transcript.Latest, transcript.Latest + 1: 0} {
		if got := transcript.ParseMillis(n); got != want {
			t.Errorf("Millis(%d) = %d, want %d", n, got, want)
		}
	}
	for text, want := range map[string]int64{"": 0, "today": 0, "1969-12-31T23:59:59Z": 0, "1970-01-01T00:00:01.5Z": 1500,
		"2025-11-22T10:00:00+01:00": 1_763_802_000_000} {
		if got := transcript.ParseTime(text); got != want {
			t.Errorf("Stamp(%q) = %d, want %d", text, got, want)
		}
	}
	if got := string(transcript.MarshalObject(map[string]string{"a": "<b>"})); got != `{"a":"<b>"}` {
		t.Errorf("Object = %s", got)
	}
}
