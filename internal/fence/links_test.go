package fence

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// servers are the clients of servers that a program with SQLite and files has no use for, by the
// beginning of their import paths.
var servers = []string{"github.com/aws/", "github.com/jackc/", "google.golang.org/", "cloud.google.com/",
	"github.com/Azure/", "gocloud.dev/"}

// A program that embeds scrollback by package local links what local links.
func TestLocalLinksNoClients(t *testing.T) {
	linked := func(room string) (out []string) {
		t.Helper()
		for _, name := range dependencies(t, room) {
			for _, begin := range servers {
				if strings.HasPrefix(name, begin) {
					out = append(out, name)
				}
			}
		}
		return out
	}
	if got := linked("local"); len(got) != 0 {
		t.Errorf("local links %d packages of clients, such as %s", len(got), got[0])
	}
	if got := linked("cloud"); len(got) == 0 {
		t.Error("cloud links none: the test looks for the wrong names")
	}
}

// mostLocal is how many packages a program with the library may link, those of the standard library too.
const mostLocal = 460

// A program with the library links few packages.
func TestLocalLinksFewPackages(t *testing.T) {
	if got := dependencies(t, "local"); len(got) > mostLocal {
		t.Errorf("local links %d packages, at most %d should be", len(got), mostLocal)
	}
}

// The program, built as releases are, links nothing that looks methods up by names that are not known before: with
// it the linker keeps every method of every type, which was 11 of 71 MB.
func TestProgramLinksNoLookupOfMethods(t *testing.T) {
	const tag = "grpcnotrace" // as in .goreleaser.yaml and deploy/Dockerfile
	for _, name := range []string{"html/template", "github.com/alecthomas/kong", "golang.org/x/net/trace"} {
		if slices.Contains(dependencies(t, "cmd/scrollback", "-tags", tag), name) {
			t.Errorf("the program links %s", name)
		}
	}
	if !slices.Contains(dependencies(t, "cmd/scrollback"), "html/template") {
		t.Error("without its tag the program links no templates either: the tag is not needed any more")
	}
	for _, name := range []string{".goreleaser.yaml", "deploy/Dockerfile", "deploy/build"} {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), tag) {
			t.Errorf("%s builds without the tag %s", name, tag)
		}
	}
}

// dependencies returns the packages that a room links.
func dependencies(t *testing.T, room string, flags ...string) []string {
	t.Helper()
	list, err := exec.CommandContext(t.Context(), "go",
		append(append([]string{"list", "-deps"}, flags...), module+"/"+room)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(list))
}
