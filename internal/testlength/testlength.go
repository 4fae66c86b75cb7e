// Package testlength says how long those tests go on that have no natural end:
// random walks, kills, loops of faults, evaluations, long conversations.
//
// Such a test names two lengths: one that finds most faults in the time a person
// waits, and the full one. Only the length differs: both check the same, and both
// can fail.
//
//	steps := testlength.Choose(2500, 10_000)
//
// The environment variable Variable chooses between them. The flag -short is
// separate: a test that has a length for it uses that one, whatever the variable says.
//
// Only tests and their suites import it.
package testlength

import (
	"fmt"
	"os"
)

// Variable is the environment variable that sets the length: "normal", which is also
// meant when it is unset, or "long".
const Variable = "SCROLLBACK_TEST_LENGTH"

// Choose returns normal, or long if the environment asks for it. It panics on any other
// value, since a misspelt one would test less than was asked for.
func Choose(normal, long int) int {
	switch length := os.Getenv(Variable); length {
	case "", "normal":
		return normal
	case "long":
		return long
	default:
		panic(fmt.Sprintf("%s is %q: it must be normal or long", Variable, length))
	}
}
