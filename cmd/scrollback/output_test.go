package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
)

// What is not a file is written to as it is, and stays what it was.
func TestWriteWholeInto(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no named files for pipes")
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	name := filepath.Join(t.TempDir(), "pipe")
	if err := os.Symlink("/dev/fd/"+strconv.Itoa(int(w.Fd())), name); err != nil {
		t.Fatal(err)
	}
	if err := writeWhole(name, func(w io.Writer) error { _, err := io.WriteString(w, "whole"); return err }); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(got, []byte("whole")) {
		t.Errorf("the pipe got %q, %v", got, err)
	}
}
