//go:build unix

package postgrestest

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// findOwner is whom the server runs as: PostgreSQL refuses root.
var findOwner = sync.OnceValues(func() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, err
})

// asOwner lets a command run as the server's user.
func asOwner(cmd *exec.Cmd) error {
	as, err := findOwner()
	// The group is its own: ^C at the terminal ends the tests, and they end the server.
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as, Setpgid: true}
	return err
}

// giveToOwner gives what is in a folder to the server's user.
func giveToOwner(folder string) error {
	as, err := findOwner()
	if err != nil || as == nil {
		return err
	}
	return filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chown(path, int(as.Uid), int(as.Gid)))
	})
}

// process is a server that was started.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
}

func launchProcess(program, folder string, args []string) (*process, error) {
	log, err := os.OpenFile(filepath.Join(folder, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(program, args...)
	// "go test" waits for every process that holds its output.
	cmd.Dir = folder
	cmd.Stdout = log
	cmd.Stderr = log
	if err := asOwner(cmd); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd, make(chan struct{})}
	go func() {
		cmd.Wait() //nolint:errcheck // how it ended is in its log
		close(p.done)
	}()
	return p, nil
}

func (p *process) hasEnded() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// stopFast is a fast shutdown; a server that does not end is killed.
func (p *process) stopFast() {
	p.resumeAll()
	p.signalOne(p.cmd.Process.Pid, syscall.SIGINT)
	select {
	case <-p.done:
	case <-time.After(20 * time.Second):
		p.killAll()
	}
}

// killAll halts the postmaster first, so that it starts no process meanwhile.
func (p *process) killAll() {
	p.signalOne(p.cmd.Process.Pid, syscall.SIGSTOP)
	for _, child := range p.listChildren() {
		p.signalOne(child, syscall.SIGKILL)
	}
	p.signalOne(p.cmd.Process.Pid, syscall.SIGKILL)
	<-p.done
}

func (p *process) pauseAll() {
	p.signalOne(p.cmd.Process.Pid, syscall.SIGSTOP)
	for _, child := range p.listChildren() {
		p.signalOne(child, syscall.SIGSTOP)
	}
}

func (p *process) resumeAll() {
	for _, child := range p.listChildren() {
		p.signalOne(child, syscall.SIGCONT)
	}
	p.signalOne(p.cmd.Process.Pid, syscall.SIGCONT)
}

// signalOne sends nothing to a process that has ended: its number may be another's.
func (p *process) signalOne(pid int, s syscall.Signal) {
	if !p.hasEnded() {
		syscall.Kill(pid, s) //nolint:errcheck // it may just have ended
	}
}

// listChildren returns the server's processes besides the first: each is in a group of its own,
// which is why one signal to a group does not reach them.
func (p *process) listChildren() []int {
	first := strconv.Itoa(p.cmd.Process.Pid)
	said, err := os.ReadFile("/proc/" + first + "/task/" + first + "/children")
	if err != nil {
		said, _ = exec.Command("pgrep", "-P", first).Output()
	}
	var out []int
	for field := range strings.FieldsSeq(string(said)) {
		if pid, err := strconv.Atoi(field); err == nil {
			out = append(out, pid)
		}
	}
	return out
}

// keeper is a process that waits for ours to end, by a pipe that nobody else holds, and
// then ends the server and removes the folder.
type keeper struct {
	cmd  *exec.Cmd
	pipe io.Closer
}

const keeperScript = `cat
if read -r pid <"$1/data/postmaster.pid"; then
	for child in $(cat "/proc/$pid/task/$pid/children"); do kill -CONT "$child"; done
	kill -QUIT "$pid" && kill -CONT "$pid"
	for _ in 1 2 3 4 5 6 7 8 9 10; do kill -0 "$pid" || break; sleep 0.2; done
	if kill -0 "$pid"; then
		for child in $(cat "/proc/$pid/task/$pid/children"); do kill -KILL "$child"; done
		kill -KILL "$pid"
	fi
	# A server that was killed leaves its segment of memory.
	set -- "$1" $(sed -n 7p "$1/data/postmaster.pid")
	[ -z "${3:-}" ] || ipcrm -m "$3"
fi
rm -rf "$1"`

func startKeeper(folder string) (*keeper, error) {
	cmd := exec.Command("sh", "-c", keeperScript, "keeper", folder)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	return &keeper{cmd, pipe}, cmd.Start()
}

func (k *keeper) endKeeper() {
	k.pipe.Close()
	k.cmd.Wait() //nolint:errcheck // what it could not do it does not say
}
