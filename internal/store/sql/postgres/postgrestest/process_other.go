//go:build !unix

package postgrestest

import (
	"errors"
	"os/exec"
)

var errUnix = errors.New("servers for tests are started on Unix only")

type (
	process struct{}
	keeper  struct{}
)

func asOwner(*exec.Cmd) error                                  { return errUnix }
func giveToOwner(string) error                                 { return errUnix }
func launchProcess(string, string, []string) (*process, error) { return nil, errUnix }
func startKeeper(string) (*keeper, error)                      { return nil, errUnix }

func (*process) hasEnded() bool { return true }
func (*process) stopFast()      {}
func (*process) killAll()       {}
func (*process) pauseAll()      {}
func (*process) resumeAll()     {}
func (*keeper) endKeeper()      {}
