//go:build !windows

package main

import "syscall"

// detached returns how a program is started that outlives this one: in a session of its own, so that a signal to the
// agent's does not end it.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
