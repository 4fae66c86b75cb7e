package clients

import (
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/scrollback-ai/scrollback"
)

// Launch is what a program is started with. Fields above the line are given, those below are made.
type Launch struct {
	Machine
	Address     string   // of the server, as http://HOST:PORT
	Model       string   // asked by programs that name none of their own
	Placeholder string   // stands where a program does not start without a key
	Arguments   []string // of the person; they are only read

	Before []string          // arguments before those of the person
	Set    map[string]string // variables
	Folder string            // that holds files for this launch; empty without any

	stands *standIn
}

// Prepare fills in what the client is started with. Close removes it.
func (c Client) Prepare(l *Launch) error {
	l.Set = map[string]string{}
	l.bypassProxies()
	err := c.prepare(l)
	if err != nil {
		_ = l.Close() // the first error counts
	}
	return err
}

// Close removes the folder of a launch.
func (l *Launch) Close() error {
	if l.Folder == "" {
		return nil
	}
	var err error
	if l.stands != nil {
		err = l.stands.bringBack()
	}
	if err == nil { // what could not be brought back stays where it is
		err = os.RemoveAll(l.Folder)
	}
	return scrollback.Wrap(scrollback.Unavailable, "clients", err)
}

// bypassProxies keeps requests to the server from going through a proxy.
func (l *Launch) bypassProxies() {
	var names []string
	for _, variable := range []string{"NO_PROXY", "no_proxy"} {
		for name := range strings.SplitSeq(l.Getenv(variable), ",") {
			if name = strings.TrimSpace(name); name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	ours := []string{"127.0.0.1", "localhost", "::1"}
	if u, err := url.Parse(l.Address); err == nil {
		ours = append(ours, u.Hostname())
	}
	for _, name := range ours {
		if !slices.Contains(names, name) && !slices.Contains(names, "*") {
			names = append(names, name)
		}
	}
	l.Set["NO_PROXY"] = strings.Join(names, ",")
	l.Set["no_proxy"] = l.Set["NO_PROXY"]
}

// setUnlessSet sets a variable that the person has not set.
func (l *Launch) setUnlessSet(variable, to string) {
	if l.Getenv(variable) == "" {
		l.Set[variable] = to
	}
}

// lacks reports whether none of the variables is set.
func (l *Launch) lacks(variables ...string) bool {
	return !slices.ContainsFunc(variables, func(v string) bool { return l.Getenv(v) != "" })
}

// isGiven reports whether the person gives one of the flags.
func (l *Launch) isGiven(flags ...string) bool {
	return slices.ContainsFunc(l.Arguments, func(a string) bool {
		name, _, _ := strings.Cut(a, "=")
		return slices.Contains(flags, name)
	})
}

// writeFile writes a file for this launch and returns its name.
func (l *Launch) writeFile(name string, content []byte) (string, error) {
	if err := l.makeFolder(); err != nil {
		return "", err
	}
	file := filepath.Join(l.Folder, name)
	return file, scrollback.Wrap(scrollback.Unavailable, "clients", os.WriteFile(file, content, 0o600))
}

// makeFolder makes the folder of this launch.
func (l *Launch) makeFolder() (err error) {
	if l.Folder == "" {
		l.Folder, err = os.MkdirTemp("", "scrollback-")
	}
	return scrollback.Wrap(scrollback.Unavailable, "clients", err)
}

// writeJSON writes a file of JSON for this launch and returns its name.
func (l *Launch) writeJSON(name string, v any) (string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", scrollback.Wrap(scrollback.Internal, "clients", err)
	}
	return l.writeFile(name, text)
}

// Bounds of a file of settings, in bytes. Where comments are allowed its nesting is read by recursion.
const (
	maxSettings = 64 << 20
	maxComments = 256 << 10
)

// readFile returns the content of a file of settings, if it is not too large.
func readFile(name string) ([]byte, error) {
	// What is no file is not opened: a pipe that nobody writes into would hold the program up.
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, errors.New("it is no file")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSettings+1))
	if err == nil && len(text) > maxSettings {
		err = errors.New("it is too large")
	}
	return text, err
}

// readSettings returns the table of a file of settings in JSON; an empty one if there is none that can be read.
func readSettings(name string) map[string]any {
	text, err := readFile(name)
	if err != nil {
		return map[string]any{}
	}
	return parseSettings(text)
}

// parseSettings returns a table in JSON, with comments or without; an empty one if it is none.
func parseSettings(text []byte) map[string]any {
	table := map[string]any{}
	err := json.Unmarshal(text, &table)
	if err != nil && len(text) <= maxComments {
		if text, err = hujson.Standardize(text); err == nil {
			err = json.Unmarshal(text, &table)
		}
	}
	if err != nil || table == nil {
		return map[string]any{}
	}
	return table
}

// lookUp returns what a path of keys leads to, as text; empty if that is none.
func lookUp(table map[string]any, path ...string) string {
	for _, key := range path[:len(path)-1] {
		table, _ = table[key].(map[string]any)
	}
	text, _ := table[path[len(path)-1]].(string)
	return text
}

// merge puts one table over another.
func merge(under, over map[string]any) map[string]any {
	for key, v := range over {
		inner, is := v.(map[string]any)
		below, was := under[key].(map[string]any)
		if is && was {
			v = merge(below, inner)
		}
		under[key] = v
	}
	return under
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
