// Package testlength says how long those tests go on that have no natural end:
// random walks, kills, loops of faults, evaluations, long conversations.
//
// Such a test names three lengths: the one that finds most faults in the time a person
// waits, the one that every change must pass, and the one that goes on for hours:
//
//	steps := testlength.Choose(500, 1200, 10_000)
//
// Only the length differs: each checks the same, and each can fail. [SkipShort] leaves a
// whole test to the longer two. The environment
// variable Variable chooses between them; the flag -short means the first, whatever the
// variable says.
//
// Only tests and their suites import it.
package testlength

import (
	"flag"
	"fmt"
	"os"
)

// Variable is the environment variable that sets the length: "short", which is also meant
// when it is unset, "full" or "long".
const Variable = "SCROLLBACK_TEST_LENGTH"

// Choose returns the first value, or the second or third if the environment asks for it. It
// panics on any other word there, since a misspelt one would test less than was asked for.
func Choose[T any](short, full, long T) T {
	length := os.Getenv(Variable)
	if given := flag.Lookup("test.short"); given != nil && given.Value.String() == "true" {
		length = "short"
	}
	switch length {
	case "", "short":
		return short
	case "full":
		return full
	case "long":
		return long
	default:
		panic(fmt.Sprintf("%s is %q: it must be short, full or long", Variable, length))
	}
}

// SkipShort skips a test that the short length leaves out: one that takes long, where another
// test looks at the same less closely, or where what it is about seldom changes. It is the first
// line of the test.
func SkipShort(t interface {
	Helper()
	Skip(args ...any)
}) {
	t.Helper()
	if Choose(true, false, false) {
		t.Skip("runs at full length: " + Variable + "=full")
	}
}
