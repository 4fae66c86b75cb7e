// Package testlength says how long the tests go on that could go on for ever:
// random walks, kills, loops of faults, evaluations, long conversations.
//
// Such a test names two lengths where it loops: one that finds most faults in the
// time a person waits, and the whole. Only the length differs; what is checked is the
// same, and a short walk can fail as a long one can.
//
//	steps := testlength.Of(1000, 10_000)
//
// The environment variable Variable chooses: unset is the first, "long" the second.
// -short is another matter: it is asked for by whoever wants an answer in seconds,
// and a test that knows it goes by it first.
//
// Only tests import it.
package testlength

import (
	"fmt"
	"os"
)

// Variable is the environment variable that makes tests go on longer.
const Variable = "SCROLLBACK_TEST_LENGTH"

// Of returns the length of a test: normal, or long if the environment asks for it.
// It panics on a value that it does not know, as a misspelt one would test less
// than was asked for.
func Of(normal, long int) int {
	switch length := os.Getenv(Variable); length {
	case "", "normal":
		return normal
	case "long":
		return long
	default:
		panic(fmt.Sprintf("%s is %q: it must be normal or long", Variable, length))
	}
}
