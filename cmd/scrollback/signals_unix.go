//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// catchSignals keeps signals from ending this program until stop is called. pass hands them on to a process until it
// has ended: those that a terminal sends to everybody in its foreground have reached it already.
func catchSignals() (stop func(), pass func(p *os.Process, ended <-chan struct{})) {
	came := make(chan os.Signal, 16)
	// SIGPIPE is ignored elsewhere in this program, and programs inherit that; one that is caught they do not.
	signal.Notify(came, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2,
		syscall.SIGPIPE)
	stop = func() {
		signal.Stop(came)
		signal.Ignore(syscall.SIGPIPE)
	}
	return stop, func(p *os.Process, ended <-chan struct{}) {
		for {
			select {
			case <-ended:
				return
			case s := <-came:
				if s != syscall.SIGPIPE && !(isTyped(s) && isInForeground()) {
					_ = p.Signal(s) // it may just have ended
				}
			}
		}
	}
}

// isTyped reports whether a signal is one that keys of a terminal send.
func isTyped(s os.Signal) bool { return s == syscall.SIGINT || s == syscall.SIGQUIT }

// isInForeground reports whether the terminal of this program sends what is typed to its group.
func isInForeground() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// exitCode returns the exit code of a process as shells have it.
func exitCode(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}
