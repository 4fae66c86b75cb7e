package clients

import (
	"bytes"
	"errors"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
)

// Pointer is a setting of a client that holds the address of a server on this machine, or of the configured one.
type Pointer struct {
	Client  string `json:"client"`
	Setting string `json:"setting"`        // its name
	Address string `json:"address"`        // of the server: scheme, host and port
	File    string `json:"file,omitempty"` // empty: a variable of the environment that the program runs in
	Line    int    `json:"line,omitempty"` // of the file, from 1
	Text    string `json:"text,omitempty"` // the setting as it stands in that line, and nothing else of it
	Answers string `json:"answers"`        // who responds there: [Ours], [Other] or [Nobody]; asked by others
}

// What responds at the address of a pointer.
const (
	Ours   = "scrollback"
	Other  = "other"
	Nobody = "nothing"
)

// Pointers are what was found, and files that could not be read.
type Pointers struct {
	Found    []Pointer
	Problems []Problem
}

// Problem is a file that could not be read.
type Problem struct {
	File   string `json:"file"`
	Reason string `json:"reason"`
}

// FindPointers returns which settings of clients hold the address of a server on this machine or of the configured one:
// in their own files, in the files that shells read, and in the environment.
func FindPointers(m Machine, configured string) Pointers {
	out := Pointers{Found: []Pointer{}, Problems: []Problem{}}
	here := hereTest(configured)
	all := listClients()
	for _, c := range all {
		for _, variable := range c.variables {
			if at := serverOf(m.Getenv(variable)); at != "" && here(at) {
				out.Found = append(out.Found, Pointer{Client: c.Name, Setting: variable, Address: at})
			}
		}
		if c.files == nil {
			continue
		}
		var read []string
		for _, file := range c.files(m) {
			if file != "" && !slices.Contains(read, file) {
				read = append(read, file)
				out.read(c, file, c.settings, here)
			}
		}
	}
	for _, file := range shellFiles(m) {
		for _, c := range all {
			out.read(c, file, c.variables, here)
		}
	}
	return out
}

// read adds what a file says under some names.
func (p *Pointers) read(c Client, file string, names []string, here func(address string) bool) {
	if len(names) == 0 {
		return
	}
	text, err := readFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		problem := Problem{File: file, Reason: explainReadError(err)}
		if !slices.Contains(p.Problems, problem) {
			p.Problems = append(p.Problems, problem)
		}
		return
	}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		for _, found := range findSettings(string(line), names) {
			if at := serverOf(found.value); at != "" && here(at) {
				p.Found = append(p.Found, Pointer{Client: c.Name, Setting: found.name, Address: at, File: file, Line: n,
					Text: hideUser(found.text)})
			}
		}
	}
}

// setting is a name with a value, and the text of both as it stands in a file.
type setting struct{ name, value, text string }

// assigned is a name with a web address behind it, as shells, JSON, TOML and YAML write it.
var assigned = lazyregexp.New(`(?:(?:export|set -g?x|declare -x|setenv)\s+)?["']?([A-Za-z_][A-Za-z0-9_]*)["']?(?:\s*[=:]\s*|\s+)["']?(https?://[^\s"',;}\])]+)["']?`)

// findSettings returns the settings of a line that have one of the names. A comment has none.
func findSettings(line string, names []string) (out []setting) {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "//") {
		return nil
	}
	for _, m := range assigned().FindAllStringSubmatch(line, -1) {
		if slices.Contains(names, m[1]) {
			out = append(out, setting{m[1], m[2], m[0]})
		}
	}
	return out
}

// hideUser takes the name and the password of an address out of a text.
func hideUser(text string) string { return userInfo().ReplaceAllString(text, "://") }

var userInfo = lazyregexp.New(`://[^/@\s]*@`)

// holdsVariable reports whether a file of variables sets one.
func holdsVariable(file, variable string) bool {
	text, err := readFile(file)
	if err != nil {
		return false
	}
	for line := range bytes.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(line)), "export "), "=")
		if strings.TrimSpace(name) == variable && strings.TrimSpace(value) != "" {
			return true
		}
	}
	return false
}

// serverOf returns the scheme, host and port of an address; empty if it is none of the web.
func serverOf(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// hereTest returns what tells whether the server of an address is on this machine, or is the configured one
// (HOST:PORT).
func hereTest(configured string) func(address string) bool {
	return func(address string) bool {
		u, err := url.Parse(address)
		if err != nil {
			return false
		}
		host := u.Hostname()
		ip, err := netip.ParseAddr(host)
		ownHost, ownPort, _ := net.SplitHostPort(configured)
		return host == "localhost" || err == nil && (ip.IsLoopback() || ip.IsUnspecified()) ||
			host == ownHost && u.Port() == ownPort
	}
}

// shellFiles are what shells read when they start.
func shellFiles(m Machine) (out []string) {
	for _, name := range []string{".profile", ".bash_profile", ".bash_login", ".bashrc", ".bash_aliases", ".kshrc"} {
		out = append(out, m.Join(m.Home, name))
	}
	for _, name := range []string{".zshenv", ".zprofile", ".zshrc", ".zlogin"} {
		out = append(out, m.Join(m.HomeOr("ZDOTDIR"), name))
	}
	return append(out, m.Join(m.ConfigFolder("fish"), "config.fish"))
}

// explainReadError returns why a file could not be read, without its name.
func explainReadError(err error) string {
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		return failed.Err.Error()
	}
	return err.Error()
}
