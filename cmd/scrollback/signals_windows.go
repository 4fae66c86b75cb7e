package main

import (
	"os"
	"os/signal"
)

// catchSignals keeps signals from ending this program until stop is called. The console sends them to all its programs,
// so that none needs to be passed on.
func catchSignals() (stop func(), pass func(p *os.Process, ended <-chan struct{})) {
	came := make(chan os.Signal, 1)
	signal.Notify(came, os.Interrupt)
	return func() { signal.Stop(came) }, func(_ *os.Process, ended <-chan struct{}) { <-ended }
}

// exitCode returns the exit code of a process.
func exitCode(s *os.ProcessState) int { return s.ExitCode() }
