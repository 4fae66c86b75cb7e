package transfer_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// The tests make much garbage and keep little: collected less often, they need a
// fifth less time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
