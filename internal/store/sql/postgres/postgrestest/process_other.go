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

func asOwner(*exec.Cmd) error                           { return errUnix }
func own(string) error                                  { return errUnix }
func launch(string, string, []string) (*process, error) { return nil, errUnix }
func keep(string) (*keeper, error)                      { return nil, errUnix }

func (*process) ended() bool { return true }
func (*process) stop()       {}
func (*process) kill()       {}
func (*process) pause()      {}
func (*process) resume()     {}
func (*keeper) end()         {}
