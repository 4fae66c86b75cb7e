package install

import (
	"os"

	"github.com/scrollback-ai/scrollback/internal/agents"
)

// IsElsewhere reports whether the home folder is probably not where the person works: the program runs in a container,
// or the folder is somebody else's, or mounted from another machine.
func IsElsewhere(m agents.Machine) bool {
	if m.Getenv("container") != "" {
		return true
	}
	for _, mark := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := os.Stat(mark); err == nil && m.System == "linux" {
			return true
		}
	}
	return isForeign(m.Home) || isMounted(m.Home)
}
