package meet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
)

// Target is a login on another machine, and a store there.
type Target struct {
	User string // empty: as ssh's configuration says
	Host string // or what ssh's configuration calls it
	Port int    // 0: as ssh's configuration says
	Path string // of the data folder; "~/" is the home folder there, and empty the folder that the program there has
}

// What users and hosts are made of: nothing that is an option of ssh, or means something to a shell that its
// configuration starts.
var (
	userForm = lazyregexp.New(`^[\pL\pN_.][\pL\pN_.@+-]*$`)
	hostForm = lazyregexp.New(`^[\pL\pN_:][\pL\pN_.:%-]*$`)
)

// ParseTarget reads an address such as ssh://me@example.org:2222/~/notes.
func ParseTarget(text string) (Target, error) {
	bad := scrollback.Errorf(scrollback.Invalid, op, i18n.SyncNoSSHAddress, text)
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "ssh" || u.RawQuery != "" || u.Fragment != "" || u.Opaque != "" {
		return Target{}, bad
	}
	t := Target{User: u.User.Username(), Host: u.Hostname(), Path: u.Path}
	if _, secret := u.User.Password(); secret || u.User != nil && !userForm().MatchString(t.User) ||
		!hostForm().MatchString(t.Host) {
		if secret {
			bad = scrollback.Errorf(scrollback.Invalid, op, i18n.SyncNoSSHAddress, u.Redacted())
		}
		return Target{}, bad
	}
	if port := u.Port(); port != "" {
		if t.Port, err = strconv.Atoi(port); err != nil || t.Port < 1 || t.Port > 65535 {
			return Target{}, bad
		}
	}
	switch {
	case t.Path == "/":
		t.Path = ""
	case strings.HasPrefix(t.Path, "/~/"):
		t.Path = t.Path[1:]
	}
	if strings.ContainsFunc(t.Path, unicode.IsControl) {
		return Target{}, bad
	}
	return t, nil
}

// String returns the target as an address.
func (t Target) String() string {
	u := url.URL{Scheme: "ssh", Host: t.Host, Path: t.Path}
	if strings.Contains(t.Host, ":") {
		u.Host = "[" + t.Host + "]"
	}
	if t.User != "" {
		u.User = url.User(t.User)
	}
	if t.Port != 0 {
		u.Host += ":" + strconv.Itoa(t.Port)
	}
	if strings.HasPrefix(t.Path, "~") {
		u.Path = "/" + t.Path
	}
	return u.String()
}

// SSH says how another machine is reached.
type SSH struct {
	Program string    // there; empty: scrollback, wherever it is
	Stderr  io.Writer // gets what ssh and the program there say, without control characters; may be nil
	Command string    // here; empty: the ssh on the PATH
}

// remoteScript finds the program on the other machine, and starts it. It stands between single quotes in whatever shell
// a login has (sh, bash, zsh, fish, csh), so that it has none itself, and no line end, exclamation mark or double
// backslash; its arguments are the octal numbers of the bytes of what they say, joined by underscores, or "no". Where
// the program is not found, the PATH of a login is asked for, which ssh does not set; "env" says it in every shell.
const remoteScript = `d() { v=; [ "$1" = no ] && return; IFS=_; for o in $1; do v="$v\0$o"; done; unset IFS; ` +
	`v=$(printf %b "$v."); v=${v%.}; case $v in "~/"*) v=$HOME/${v#??};; esac; }; ` +
	`d "$1"; p=$v; d "$2"; ` +
	`PATH="$PATH:$HOME/.local/bin:$HOME/go/bin:/usr/local/bin:/opt/homebrew/bin:$HOME/bin"; ` +
	`command -v "$p" >/dev/null 2>&1 || ` +
	`PATH="$PATH:$("${SHELL:-sh}" -l -c env </dev/null 2>/dev/null | sed -n "s/^PATH=//p" | tail -n 1)"; ` +
	`command -v "$p" >/dev/null 2>&1 || { echo "$p: not found" >&2; exit 127; }; ` +
	`if [ -n "$v" ]; then exec "$p" sync-serve --data "$v"; fi; exec "$p" sync-serve`

// encodeWord writes a text so that every shell takes it as one word.
func encodeWord(text string) string {
	out := make([]string, 0, len(text))
	for _, b := range []byte(text) {
		out = append(out, fmt.Sprintf("%03o", b))
	}
	if len(out) == 0 {
		return "no"
	}
	return strings.Join(out, "_")
}

// arguments are those of ssh.
func (t Target) arguments(program string) []string {
	args := []string{"-T", "-e", "none"}
	if t.Port != 0 {
		args = append(args, "-p", strconv.Itoa(t.Port))
	}
	if t.User != "" {
		args = append(args, "-l", t.User)
	}
	command := "sh -c '" + remoteScript + "' scrollback " + encodeWord(program) + " " + encodeWord(t.Path)
	return append(args, "--", t.Host, command)
}

// DialSSH starts ssh, which asks what it needs at the terminal, and returns the peer that the program there serves by
// [ServePipe]. Whoever calls it closes the connection; that waits for ssh to end. ctx ends the connection too.
func DialSSH(ctx context.Context, t Target, o SSH) (Peer, io.Closer, error) {
	program := o.Program
	if program == "" {
		program = "scrollback"
	}
	command := o.Command
	if command == "" {
		command = "ssh"
	}
	cmd := exec.CommandContext(ctx, command, t.arguments(program)...)
	cmd.WaitDelay = 5 * time.Second
	said := &heard{to: o.Stderr}
	cmd.Stderr = said
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, scrollback.Errorf(scrollback.Unavailable, op, i18n.SyncNoSSH, err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, nil, scrollback.Errorf(scrollback.Unavailable, op, i18n.SyncNoSSH, err)
	}
	running := &sshRun{cmd: cmd, in: in, out: out}
	p, err := DialPipe(out, in, t.String(), func() { _ = in.Close() })
	if err == nil {
		return p, running, nil
	}
	ended := running.Close()
	if ctx.Err() != nil {
		return nil, nil, scrollback.Wrap(scrollback.Canceled, op, ctx.Err())
	}
	var none *noMark
	if !errors.As(err, &none) {
		return nil, nil, err
	}
	return nil, nil, explainStart(t, ended, said.tail(), none.noise)
}

// explainStart says why the program on the other machine did not begin to talk, in the words that came from there.
func explainStart(t Target, ended error, said, noise string) error {
	status := 0
	var of *exec.ExitError
	if errors.As(ended, &of) {
		status = of.ExitCode()
	}
	if strings.TrimSpace(said) == "" || status != sshFailed && status != notFound {
		said = strings.TrimSpace(clean(noise)) + "\n" + said
	}
	said = lastLines(said)
	switch status {
	case sshFailed:
		return scrollback.Errorf(scrollback.Unavailable, op, i18n.SyncSSHFailed, t, said)
	case notFound:
		return scrollback.Errorf(scrollback.Unavailable, op, i18n.SyncProgramMissing, t, said)
	}
	return scrollback.Errorf(scrollback.Unavailable, op, i18n.SyncNoMark, t, status, said)
}

// Exit statuses: of ssh itself, and of a shell that does not find a program.
const (
	sshFailed = 255
	notFound  = 127
)

// lastLines returns the end of what somebody said: at most 2,000 bytes, whole lines.
func lastLines(text string) string {
	const most = 2000
	text = strings.TrimSpace(text)
	if len(text) <= most {
		return text
	}
	text = strings.ToValidUTF8(text[len(text)-most:], "")
	if _, rest, ok := strings.Cut(text, "\n"); ok {
		return rest
	}
	return text
}

// sshRun is an ssh under way.
type sshRun struct {
	cmd  *exec.Cmd
	in   io.Closer
	out  io.Closer
	once sync.Once
	err  error
}

// Close ends the connection, and returns how ssh has ended.
func (r *sshRun) Close() error {
	r.once.Do(func() {
		_ = r.in.Close()
		kill := time.AfterFunc(r.cmd.WaitDelay, func() { _ = r.cmd.Process.Kill() })
		r.err = r.cmd.Wait()
		kill.Stop()
		_ = r.out.Close()
	})
	return r.err
}

// heard is what the other side says beside its answers: it is shown at once, and its end is kept.
type heard struct {
	to   io.Writer
	mu   sync.Mutex
	last []byte
}

// Write implements [io.Writer].
func (h *heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = append(h.last, b...)
	if over := len(h.last) - maxNoise; over > 0 {
		h.last = h.last[over:]
	}
	if h.to != nil {
		_, _ = io.WriteString(h.to, clean(string(b))) // who shows it may be gone
	}
	return len(b), nil
}

func (h *heard) tail() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return clean(string(h.last))
}

// clean takes out what could move the cursor of a terminal.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || !unicode.IsControl(r) {
			return r
		}
		return -1
	}, text)
}
