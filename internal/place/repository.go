package place

import (
	"bufio"
	"context"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
)

// Repository is what a repository is known by on every machine: its first commit together with where it comes from. Of
// two clones both are the same; of a template and what was made of it, of a fork, or of a folder of the same name, one
// is not.
type Repository struct {
	First  string `json:"first"`  // the id of the first commit, in hex
	Remote string `json:"remote"` // host and path, such as github.com/owner/name
}

// foldersBegin begins the folders by which conversations of repositories are found, whatever their folder is called on
// another machine. No folder of a machine is below it.
const foldersBegin = "/.scrollback-repository/"

var (
	commitID  = lazyregexp.New(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)
	shortForm = lazyregexp.New(`^(?:[^@/:\\]+@)?([^/:\\]{2,}):(.+)$`) // user@host:path
	remoteOf  = lazyregexp.New(`^\[remote "([^"\\]+)"\]$`)
	keyURL    = lazyregexp.New(`(?i)^url\s*=\s*"?([^"]*?)"?$`)
)

// IsKnown reports whether it is one that can be known elsewhere.
func (r Repository) IsKnown() bool {
	return commitID().MatchString(r.First) && r.Remote != "" && normalizeParts(r.Remote) == r.Remote
}

// Folder returns the folder by which conversations of the repository are found; empty for one that is not known.
func (r Repository) Folder() string {
	if !r.IsKnown() {
		return ""
	}
	return foldersBegin + r.Remote + "/" + r.First
}

// normalizeRemote returns host and path of a remote's URL, without what differs between people: the scheme, the user, a
// port, ".git". It is empty for a place on one machine.
func normalizeRemote(text string) string {
	if m := shortForm().FindStringSubmatch(text); m != nil && !strings.Contains(text, "://") {
		return normalizeParts(strings.ToLower(m[1]) + "/" + m[2])
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Scheme == "file" {
		return ""
	}
	return normalizeParts(strings.ToLower(u.Hostname()) + "/" + u.Path)
}

// normalizeParts returns host and path in their one form; empty if that is none.
func normalizeParts(text string) string {
	bad := func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' }
	host, rest, _ := strings.Cut(text, "/")
	rest = strings.TrimSuffix(strings.Trim(path.Clean("/"+rest), "/"), ".git")
	if host == "" || host == "localhost" || rest == "" || len(text) > mostBytes || strings.ContainsFunc(text, bad) {
		return ""
	}
	return host + "/" + rest
}

// readRemote returns the remote that a repository comes from: origin, or the only one.
func readRemote(common string) string {
	f, err := os.Open(filepath.Join(common, "config"))
	if err != nil {
		return ""
	}
	defer f.Close()
	urls := map[string]string{}
	section := ""
	lines := bufio.NewScanner(io.LimitReader(f, mostConfig))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			section = firstGroup(remoteOf(), line)
			continue
		}
		if at := firstGroup(keyURL(), line); section != "" && at != "" && urls[section] == "" {
			urls[section] = at
		}
	}
	if at, ok := urls["origin"]; ok || len(urls) != 1 {
		return normalizeRemote(at)
	}
	for _, at := range urls {
		return normalizeRemote(at)
	}
	return ""
}

func firstGroup(pattern *regexp.Regexp, s string) string {
	if m := pattern.FindStringSubmatch(s); m != nil {
		return m[1]
	}
	return ""
}

const (
	mostConfig = 256 << 10       // bytes of a repository's settings
	walkTime   = 5 * time.Second // for git to walk a history
)

// ReadRepository returns what the repository with a common folder is known by on every machine; the zero value for one
// without a remote, of which the history is cut short, or where git cannot be asked. It runs git, which walks the
// history: ask for it where nobody waits, and keep the answer.
func ReadRepository(ctx context.Context, common string) Repository {
	r := Repository{Remote: readRemote(common)}
	if r.Remote == "" || !filepath.IsAbs(common) {
		return Repository{}
	}
	if _, err := os.Stat(filepath.Join(common, "shallow")); err == nil {
		return Repository{}
	}
	ctx, cancel := context.WithTimeout(ctx, walkTime)
	defer cancel()
	git := exec.CommandContext(ctx, "git", "--git-dir="+common, "-c", "core.fsmonitor=false", "rev-list",
		"--max-parents=0", "HEAD")
	git.Dir = common
	git.Env = append(os.Environ(), "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0")
	git.WaitDelay = time.Second
	out, err := git.Output()
	if err != nil {
		return Repository{}
	}
	all := strings.Fields(string(out)) // the oldest last: others came by merging unrelated histories
	if len(all) > 0 {
		r.First = all[len(all)-1]
	}
	if !r.IsKnown() {
		return Repository{}
	}
	return r
}
