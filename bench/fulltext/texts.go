//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/terms"
)

const (
	english    = 50_000 // words there are
	characters = 3_000
	atOnce     = 16  // conversations that go on at the same time
	each       = 100 // documents of a conversation

	rare   = "quokka"  // of 1 document in 10,000
	common = "teapot"  // of 1 in 10
	middle = "lantern" // of 1 in 100
	begin  = "zephyr"  // the beginning of 40 words, which 1 in 50 has one of
)

// talk makes documents, the same for the same seed.
type talk struct {
	rng   *rand.Rand
	zipf  *rand.Zipf
	hanzi *rand.Zipf
	made  int
}

func newTalk(seed uint64) *talk {
	rng := rand.New(rand.NewPCG(seed, 5))
	return &talk{rng: rng, zipf: rand.NewZipf(rng, 1.1, 8, english-1), hanzi: rand.NewZipf(rng, 1.1, 20, characters-1)}
}

// documentPlace returns where the i-th document is.
func documentPlace(i int) driver.Place {
	group := i / (atOnce * each)
	in := i % (atOnce * each)
	return driver.NewPlace(int64(group*atOnce+in%atOnce+1), int64(in/atOnce+1))
}

// nextDocuments makes n documents.
func (t *talk) nextDocuments(n int) []driver.Document {
	out := make([]driver.Document, n)
	for i := range out {
		cut := terms.SplitTerms(t.makeText())
		role := scrollback.RoleUser
		if t.made%2 == 1 {
			role = scrollback.RoleAssistant
		}
		out[i] = driver.Document{Terms: cut, Mark: driver.Mark{Place: documentPlace(t.made), Role: role,
			CreatedAt: 1_767_600_000_000 + int64(t.made)*1000, Length: len(cut)}}
		t.made++
	}
	return out
}

// makeText returns half English, half Chinese, and of the length of a message: most are short.
func (t *talk) makeText() string {
	var b strings.Builder
	for n := 8 + int(t.rng.ExpFloat64()*20); n > 0; n-- {
		if n%2 == 0 {
			fmt.Fprintf(&b, "%s ", makeWord(t.zipf.Uint64()))
			continue
		}
		for range 2 + t.rng.IntN(4) {
			b.WriteRune(rune(0x4e00 + 5*int(t.hanzi.Uint64())))
		}
	}
	for _, w := range []struct {
		every, at int
		word      string
	}{{10_000, 7, rare}, {10, 5, common}, {101, 50, middle}, {50, 25, fmt.Sprint(begin, t.made/50%40)}} {
		if t.made%w.every == w.at {
			b.WriteString(strings.Repeat(" "+w.word, 1+t.made%3))
		}
	}
	return b.String()
}

// makeWord returns the i-th word: syllables that tell its number.
func makeWord(i uint64) string {
	var b strings.Builder
	for i += 20; i > 0; i /= 80 {
		b.WriteByte("bcdfghjklmnprstv"[i%16])
		b.WriteByte("aeiou"[i%80/16])
	}
	return b.String()
}
