package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// What may be made while the program starts, by all packages of ours together: every command waits for it. Patterns,
// tables and lists of words are made when they are first used (lazyregexp.New, sync.OnceValue).
const (
	mostStartBytes  = 800_000
	mostStartAllocs = 3_500
	mostRoomBytes   = 200_000 // of one package
)

// The packages of ours make little while the program starts. It is counted and not timed, so that a busy machine says
// the same.
func TestStartsWithLittle(t *testing.T) {
	t.Parallel()
	started := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	started.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := started.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	rooms := 0
	bytes := 0
	allocs := 0
	for text := range strings.Lines(string(out)) {
		var room string
		var at, took float64
		var b, n int
		_, err := fmt.Sscanf(text, "init %s @%f ms, %f ms clock, %d bytes, %d allocs", &room, &at, &took, &b, &n)
		if err != nil || !strings.HasPrefix(room, "github.com/scrollback-ai/scrollback") || strings.HasSuffix(room, "test") {
			continue
		}
		rooms++
		bytes += b
		allocs += n
		if b > mostRoomBytes {
			t.Errorf("%s makes %d bytes when the program starts", room, b)
		}
	}
	if bytes > mostStartBytes || allocs > mostStartAllocs || rooms < 10 {
		t.Errorf("%d packages make %d bytes in %d pieces when the program starts; at most %d in %d should be made", rooms,
			bytes, allocs, mostStartBytes, mostStartAllocs)
	}
}
