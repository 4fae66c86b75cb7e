package terms

import (
	"sync"
	"testing"
)

// A stem that is remembered is the one that is computed again, also where many words share a place and several
// goroutines ask.
func TestStemsAreRemembered(t *testing.T) {
	var c stemCache
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for round := range 2 {
				for i := range 3 * maxStems {
					word := ""
					for n := i; n > 0; n /= 26 {
						word += string(rune('a' + n%26))
					}
					word += []string{"ing", "ational", "s", "ed"}[i%4]
					if got, want := c.find(word), stemEnglish(word); got != want {
						t.Errorf("round %d: the stem of %s is %s, want %s", round, word, got, want)
						return
					}
				}
			}
		})
	}
	all.Wait()
}
