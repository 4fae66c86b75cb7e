package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// swap exchanges two names again and again until the test is over; one of them is a
// link that leads out.
func swap(t *testing.T, a, b string) {
	t.Helper()
	done := make(chan struct{})
	var turns sync.WaitGroup
	turns.Go(func() {
		spare := a + ".spare"
		for {
			select {
			case <-done:
				return
			default:
			}
			if err := errors.Join(os.Rename(a, spare), os.Rename(b, a), os.Rename(spare, b)); err != nil {
				t.Errorf("the names cannot be swapped: %v", err)
				return
			}
		}
	})
	t.Cleanup(func() { close(done); turns.Wait() })
}

// reads is how often something is read while names are swapped, at least.
const reads = 10_000

// manyReads reads a name again and again; nothing of it may come from outside. Both
// kinds of answer must come, else nothing was tested.
func manyReads(t *testing.T, once func() (string, error)) {
	t.Helper()
	good := 0
	bad := 0
	for i := 0; i < reads || (good == 0 || bad == 0) && i < 20*reads; i++ {
		got, err := once()
		switch {
		case strings.Contains(got, "SECRET"):
			t.Fatalf("after %d reads it is %q", i, got)
		case err != nil:
			bad++
		default:
			good++
		}
	}
	if good == 0 || bad == 0 {
		t.Errorf("%d reads were good and %d were not", good, bad)
	}
}

// While a file and a link that leads out change places, only the file is read.
func TestSwappedFiles(t *testing.T) {
	_, roots := yard(t)
	fill(t, roots[0], map[string]string{"link": "->../secret.txt"})
	f := open(t, roots[0])
	swap(t, filepath.Join(roots[0], "main.go"), filepath.Join(roots[0], "link"))
	manyReads(t, func() (string, error) { return read(f, "main.go", "") })
}

// So it is with a folder on the way.
func TestSwappedFolders(t *testing.T) {
	top, roots := yard(t)
	fill(t, roots[0], map[string]string{"keys/key": "public", "link": "->" + filepath.Join(top, "secrets")})
	f := open(t, roots[0])
	swap(t, filepath.Join(roots[0], "keys"), filepath.Join(roots[0], "link"))
	manyReads(t, func() (string, error) { return read(f, filepath.Join(roots[0], "keys", "key"), "") })
}

// The same holds for the root itself and a folder above it, when it is opened meanwhile.
func TestSwappedRoots(t *testing.T) {
	testlength.SkipShort(t)
	for _, pair := range [][2]string{{"ws/a", "ws/link"}, {"ws/a/b", "ws/a/link"}} {
		t.Run(pair[0], func(t *testing.T) {
			top, _ := yard(t)
			fill(t, top, map[string]string{"ws/a/b/key": "public", "ws/link": "->../traps", "traps/b/key": "SECRET",
				"ws/a/link": "->../../secrets"})
			swap(t, filepath.Join(top, pair[0]), filepath.Join(top, pair[1]))
			manyReads(t, func() (string, error) {
				f := OpenFolders([]string{filepath.Join(top, "ws", "a", "b")})
				defer f.Close()
				return read(f, "key", "")
			})
		})
	}
}
