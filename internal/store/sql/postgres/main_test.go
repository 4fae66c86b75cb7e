package postgres_test

import (
	"os"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/testparallel"
)

func TestMain(m *testing.M) {
	testparallel.Double()
	os.Exit(m.Run())
}
