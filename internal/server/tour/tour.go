// Package tour makes the sample conversation: a year of talk with a harbour office about its
// tide gauges, 3,000 messages long, so that a newcomer has something to search, compact and
// open before having said anything.
//
// Words it adds: scene (a question and its answer, written from a template), decision (a scene
// that occurs once, and that is worth looking for later).
//
// Invariants: the same language, and the same day, give the same bytes; nothing is read and
// nothing is asked of a network or a model; the newest message is older than the time given.
// The conversation is made to use the built-in model, which costs nothing, and its meta says
// "sample": true and its language: clients decide by that how they show it.
//
// It writes the transcript format that any import reads. It may not know the store or the engine.
package tour

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"
)

// Messages is how many messages the sample has.
const Messages = 3000

// Project is where the sample goes unless the caller names another.
const Project = "sample"

// tourDays is how far the sample reaches back.
const tourDays = 320

// transcriptLine is one line of the transcript: a message.
type transcriptLine struct {
	Role      string `json:"role"`
	Content   string `json:"content"`
	CreatedAt int64  `json:"created_at"`
}

// WriteSample writes the sample in a language, "zh" or else English, as it stands at now.
func WriteSample(w io.Writer, lang string, now time.Time) error {
	s := english
	if strings.HasPrefix(lang, "zh") {
		s = chinese
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	day := now.UTC().Truncate(24 * time.Hour)
	head := map[string]any{"conversation": map[string]any{"id": "tour-" + s.name + day.Format("-20060102"),
		"title": s.title, "model": "offline",
		"instructions": s.instructions, "meta": map[string]any{"sample": true, "lang": s.name}}}
	if err := enc.Encode(head); err != nil {
		return err
	}
	t := sampleWriter{story: s, rng: rand.New(rand.NewPCG(7, uint64(len(s.name)))),
		day: now.UTC().Truncate(24*time.Hour).AddDate(0, 0, -tourDays)}
	for n := 0; n < Messages; n += 2 {
		ask, reply := t.writeScene(n)
		at := t.timeAt(n)
		for i, l := range []transcriptLine{{"user", ask, at.UnixMilli()},
			{"assistant", reply, at.Add(time.Duration(5+t.rng.IntN(40)) * time.Second).UnixMilli()}} {
			if err := enc.Encode(l); err != nil {
				return fmt.Errorf("message %d: %w", n+i+1, err)
			}
		}
	}
	return nil
}

// story is what is said, in one language.
type story struct {
	name, title, instructions string
	stations                  []string
	scenes                    []func(t *sampleWriter) (ask, reply string)
	decisions                 [][2]string // spread over the year, in order
	date                      string      // how a day is written
}

// sampleWriter tells a story.
type sampleWriter struct {
	story
	rng *rand.Rand
	day time.Time
	now time.Time // of the scene being told
}

// timeAt returns the time of the message after n others: in working hours, and never earlier than
// the one before.
func (t *sampleWriter) timeAt(n int) time.Time {
	perDay := float64(Messages) / float64(tourDays-1)
	whole := int(float64(n) / perDay)
	part := float64(n) / perDay
	t.now = t.day.AddDate(0, 0, whole).Add(7*time.Hour + time.Duration((part-float64(whole))*float64(10*time.Hour)))
	return t.now
}

// writeScene returns what is asked and answered after n messages.
func (t *sampleWriter) writeScene(n int) (ask, reply string) {
	t.timeAt(n)
	every := Messages / (len(t.decisions) + 1)
	every -= every % 2
	if n > 0 && n%every == 0 && n/every <= len(t.decisions) {
		d := t.decisions[n/every-1]
		return d[0], d[1]
	}
	return t.scenes[t.rng.IntN(len(t.scenes))](t)
}

func (t *sampleWriter) pickOne(from ...string) string { return from[t.rng.IntN(len(from))] }
func (t *sampleWriter) pickStation() string           { return t.pickOne(t.stations...) }
func (t *sampleWriter) formatToday() string           { return t.now.Format(t.date) }

// randomLevel returns a height of the water in metres.
func (t *sampleWriter) randomLevel() string { return fmt.Sprintf("%.3f", 1.6+1.7*t.rng.Float64()) }

// randomResidual returns how far a level is from the tables in centimetres: under the limit of 2.5 that the
// talk sets.
func (t *sampleWriter) randomResidual() string {
	return fmt.Sprintf("%.1f", 0.1*float64(t.randomFew(0, 24)))
}

// randomFew returns a number from low to high.
func (t *sampleWriter) randomFew(low, high int) int { return low + t.rng.IntN(high-low+1) }
