//go:build !linux

package postgres

import "syscall"

// boundSilence is for Linux; elsewhere the system's own bound holds.
func boundSilence(string, string, syscall.RawConn) error { return nil }
