package fence

import (
	"os/exec"
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
		list, err := exec.CommandContext(t.Context(), "go", "list", "-deps", module+"/"+room).Output()
		if err != nil {
			t.Fatal(err)
		}
		for name := range strings.FieldsSeq(string(list)) {
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
