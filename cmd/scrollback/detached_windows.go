package main

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// detached returns how a program is started that outlives this one: without its console.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{HideWindow: true,
		CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
}
