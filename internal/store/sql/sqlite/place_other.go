//go:build !linux && !darwin && !windows

package sqlite

import (
	"fmt"
	"os"
	"reflect"
)

// machineID returns the id of this installation of the system.
func machineID() string { return readFirst("/etc/hostid", "/etc/machine-id") }

// fileIdentity returns what stays of a file as long as it is the same one: its number, where the system has one.
func fileIdentity(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if s := reflect.Indirect(reflect.ValueOf(info.Sys())); s.Kind() == reflect.Struct {
		if number := s.FieldByName("Ino"); number.IsValid() {
			return fmt.Sprint(number), nil
		}
	}
	return "", nil
}
