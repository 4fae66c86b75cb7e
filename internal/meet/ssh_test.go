package meet

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// servedBy is the environment variable with which the test binary is the program on the other machine: it serves a
// store with one conversation of the name that --data gives.
const servedBy = "SCROLLBACK_TEST_SERVES"

func TestMain(m *testing.M) {
	if os.Getenv(servedBy) == "" {
		os.Exit(m.Run())
	}
	s := newStore()
	at := slices.Index(os.Args, "sync-serve")
	name := "default"
	if len(os.Args) > at+2 && os.Args[at+1] == "--data" {
		name = os.Args[at+2]
	}
	s.talk(scrollback.ConversationID("c"+name), 1, 20)
	fmt.Fprintln(os.Stderr, "a word from \x1b[31mthere")
	h := Handler(func(*http.Request) (Peer, error) { return s, nil })
	if err := ServePipe(context.Background(), os.Stdin, os.Stdout, h); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// daemon is an sshd of the test, and the ssh that knows it.
type daemon struct {
	dir     string
	port    int
	ssh     string // a program that calls ssh with a configuration of its own
	program string // that serves, as it would be installed
	home    string
}

func startDaemon(t *testing.T) *daemon {
	t.Helper()
	sshd, err := findDaemon()
	if err != nil {
		if os.Getenv("SCROLLBACK_REQUIRE_SERVICES") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	d := &daemon{dir: t.TempDir()}
	d.home = filepath.Join(d.dir, "home")
	if err := os.MkdirAll(filepath.Join(d.home, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"host", "mine"} {
		run(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(d.dir, key))
	}
	own, err := os.ReadFile(filepath.Join(d.dir, "mine.pub"))
	if err != nil {
		t.Fatal(err)
	}
	host, err := os.ReadFile(filepath.Join(d.dir, "host.pub"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d.port = l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	d.write(t, "authorized", string(own), 0o600)
	d.write(t, "known", fmt.Sprintf("[127.0.0.1]:%d %s", d.port, host), 0o600)
	d.write(t, "banner", "Welcome, and read this first.\nscrollback-sync is not here yet\n", 0o644)
	config := []string{"Port " + strconv.Itoa(d.port), "ListenAddress 127.0.0.1", "HostKey " + d.dir + "/host",
		"AuthorizedKeysFile " + d.dir + "/authorized", "PidFile none", "StrictModes no", "UsePAM no",
		"Banner " + d.dir + "/banner", "PasswordAuthentication no", "PermitRootLogin yes",
		"SetEnv HOME=" + d.home + " " + servedBy + "=1"}
	d.write(t, "sshd_config", strings.Join(config, "\n")+"\n", 0o600)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d.program = d.write(t, "a program's 'name'", "#!/bin/sh\necho noise of a wrapper\nexec '"+self+"' \"$@\"\n", 0o755)
	d.ssh = d.write(t, "ssh", "#!/bin/sh\nexec ssh -F none -o IdentitiesOnly=yes -o BatchMode=yes -o ConnectTimeout=20"+
		" -i "+d.dir+"/mine -o UserKnownHostsFile="+d.dir+"/known -o StrictHostKeyChecking=yes \"$@\"\n", 0o755)
	cmd := exec.Command(sshd, "-D", "-e", "-f", filepath.Join(d.dir, "sshd_config"))
	said, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	listens := make(chan bool, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		lines := bufio.NewScanner(said)
		for lines.Scan() {
			if strings.Contains(lines.Text(), "listening on") {
				listens <- true
			}
		}
		close(listens)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		_ = cmd.Wait()
	})
	if !<-listens {
		t.Fatal("sshd does not listen")
	}
	return d
}

func findDaemon() (string, error) {
	for _, name := range []string{"sshd", "/usr/sbin/sshd", "/usr/local/sbin/sshd"} {
		if found, err := exec.LookPath(name); err == nil && filepath.IsAbs(found) {
			// It separates privileges in a folder that the system makes when the service starts.
			if os.Geteuid() == 0 {
				_ = os.MkdirAll("/run/sshd", 0o755)
			}
			_, err := exec.LookPath("ssh")
			return found, err
		}
	}
	return "", errors.New("sshd is not installed")
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

func (d *daemon) write(t *testing.T, name, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(d.dir, name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func (d *daemon) target(t *testing.T, path string) Target {
	t.Helper()
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	target, err := ParseTarget(fmt.Sprintf("ssh://%s@127.0.0.1:%d%s", me.Username, d.port, path))
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// dial reaches the other machine, and returns what was said beside.
func (d *daemon) dial(t *testing.T, target Target, program string) (*bytes.Buffer, Peer, func() error, error) {
	t.Helper()
	var said bytes.Buffer
	p, c, err := DialSSH(t.Context(), target, SSH{Program: program, Stderr: &said, Command: d.ssh})
	if err != nil {
		return &said, nil, nil, err
	}
	return &said, p, c.Close, nil
}

// Stores meet over a real ssh, whatever a login prints and however the data folder and the program are called.
func TestOverSSH(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	d.write(t, "home/.bashrc", "echo noise of a profile\nprintf 'and more, without an end'\n", 0o644)
	d.write(t, "home/.profile", "echo noise of a login\nPATH=$PATH:"+d.home+"/elsewhere\n", 0o644)
	for _, test := range []struct{ path, program, want string }{
		{"", d.program, "cdefault"},
		{"/srv/data", d.program, "c/srv/data"},
		{"/~/no%20tes", d.program, "c" + d.home + "/no tes"},
		{`/it's%20"$HOME"%20%60id%60%20%5C0%20!%20*%20数据`, d.program, "c" + `/it's "$HOME" ` + "`id`" + ` \0 ! * 数据`},
		{"/-x", "~/bin/other", "c/-x"},
		{"/usual", "usual", "c/usual"},     // in ~/bin
		{"/login", "elsewhere", "c/login"}, // on the PATH of a login only
	} {
		for _, at := range []string{"home/bin/other", "home/bin/usual", "home/elsewhere/elsewhere"} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(d.dir, at)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(d.program, filepath.Join(d.dir, at)); err != nil && !errors.Is(err, os.ErrExist) {
				t.Fatal(err)
			}
		}
		said, p, closed, err := d.dial(t, d.target(t, test.path), test.program)
		if err != nil {
			t.Errorf("%s: %v (%s)", test.path, err, said)
			continue
		}
		ours := newStore()
		ours.talk("mine", 1, 30)
		result, err := Meet(t.Context(), ours, p, Options{})
		if err != nil || result.Pulled.Messages != 20 || result.Pushed.Messages != 30 || result.Pushed.New != 1 {
			t.Errorf("%s: %+v, %v", test.path, result, err)
		}
		if ours.mem.Conversation(scrollback.ConversationID(test.want)) == nil {
			t.Errorf("%s: the data folder there is another one: %s", test.path, ours.mem.Describe())
		}
		again, err := Meet(t.Context(), ours, p, Options{})
		if err != nil || again.Pulled.Messages+again.Pushed.Messages > 0 {
			t.Errorf("%s: again %+v, %v", test.path, again, err)
		}
		if err := closed(); err != nil {
			t.Errorf("%s: ssh ends with %v", test.path, err)
		}
		if !strings.Contains(said.String(), "Welcome") || !strings.Contains(said.String(), "a word from [31mthere") {
			t.Errorf("%s: what is said there is not shown: %q", test.path, said)
		}
	}
}

// What stands in the way is named, in the words of ssh or of the other machine.
func TestSSHFails(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	d.write(t, "home/.bashrc", "echo a profile\n", 0o644)
	talks := d.write(t, "talks", "#!/bin/sh\necho something else; exit 3\n", 0o755)
	newer := d.write(t, "newer", "#!/bin/sh\nprintf '\\nscrollback-sync 9 begins here\\n'; cat >/dev/null\n", 0o755)
	check := func(program, want string) {
		t.Helper()
		_, _, _, err := d.dial(t, d.target(t, ""), program)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", program, err, want)
		}
	}
	check("nowhere", "there is no scrollback at ssh://")
	check("nowhere", "nowhere: not found")
	check(talks, "something else")
	check(talks, "exit status 3")
	check(newer, "protocol 9, and this one by 1")
	known, err := os.ReadFile(filepath.Join(d.dir, "mine.pub"))
	if err != nil {
		t.Fatal(err)
	}
	d.write(t, "known", fmt.Sprintf("[127.0.0.1]:%d %s", d.port, known), 0o600)
	check(d.program, "Host key verification failed")
	_, _, err = DialSSH(t.Context(), d.target(t, ""), SSH{Command: filepath.Join(d.dir, "no ssh")})
	if scrollback.CodeOf(err) != scrollback.Unavailable {
		t.Errorf("without ssh: %v", err)
	}
}

// A connection that ends in the middle ends the meeting, and the next one goes on.
func TestSSHEnds(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	ctx, cancel := context.WithCancel(t.Context())
	p, c, err := DialSSH(ctx, d.target(t, ""), SSH{Program: d.program, Command: d.ssh})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Head(ctx); err != nil {
		t.Fatal(err)
	}
	cancel()
	_ = c.Close()
	if _, err := Meet(t.Context(), newStore(), p, Options{}); scrollback.CodeOf(err) != scrollback.Unavailable {
		t.Errorf("over a connection that has ended: %v", err)
	}
}

func TestParseTarget(t *testing.T) {
	for text, want := range map[string]Target{
		"ssh://host":                    {Host: "host"},
		"ssh://host/":                   {Host: "host"},
		"ssh://me@host:22/~/my%20notes": {User: "me", Host: "host", Port: 22, Path: "~/my notes"},
		"ssh://[::1]:2222/srv":          {Host: "::1", Port: 2222, Path: "/srv"},
		"ssh://my_host.local":           {Host: "my_host.local"},
		"ssh://a.b+c@h":                 {User: "a.b+c", Host: "h"},
		"ssh://-oProxyCommand=id":       {},
		"ssh://-oProxyCommand=id@host":  {},
		"ssh://host$(id)":               {},
		"ssh://a;id@host":               {},
		"ssh://me:secret@host":          {},
		"ssh://":                        {},
		"ssh:host":                      {},
		"https://host":                  {},
		"ssh://host:0":                  {},
		"ssh://host:70000":              {},
		"ssh://host/a%0ab":              {},
		"ssh://%2DoProxyCommand%3Did/":  {},
		"ssh://host?x":                  {},
	} {
		got, err := ParseTarget(text)
		if got != want || (err == nil) != (want != Target{}) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
		if err != nil {
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		if again, err := ParseTarget(got.String()); again != got {
			t.Errorf("%s is written as %s: %v", text, got, err)
		}
		args := got.arguments("scrollback")
		if n := len(args); args[n-3] != "--" || args[n-2] != got.Host {
			t.Errorf("%s: %q", text, args)
		}
	}
}

// The command finds the program and its folder in each shell that is here.
func TestRemoteCommand(t *testing.T) {
	t.Parallel()
	if strings.ContainsAny(remoteScript, "'!\n") || strings.Contains(remoteScript, `\\`) {
		t.Error("the script has what some shell takes for its own")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "it's a \"program\" !$HOME `id`")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nprintf '%s|' \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, shell := range []string{"sh", "dash", "bash", "zsh", "fish", "csh", "tcsh", "ksh", "mksh", "busybox"} {
		found, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		tried++
		path := `a'b\c "d" $e !f *` + "\t`g`"
		args := Target{Host: "h", Path: path}.arguments(program)
		line := []string{"-c", args[len(args)-1]}
		if shell == "busybox" {
			line = append([]string{"sh"}, line...)
		}
		out, err := exec.Command(found, line...).CombinedOutput()
		if want := "sync-serve|--data|" + path + "|"; err != nil || string(out) != want {
			t.Errorf("%s: %q, %v, want %q", shell, out, err, want)
		}
	}
	if tried == 0 {
		t.Error("there is no shell")
	}
	t.Logf("in %d shells", tried)
}
