package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// bulky fills a data folder with a conversation that does not compress, of so many bytes, behind artifacts.
func bulky(t *testing.T, data string, size int) {
	t.Helper()
	random := rand.NewChaCha8([32]byte{9})
	var file bytes.Buffer
	for range size / (512 << 10) {
		text := make([]byte, 384<<10)
		_, _ = random.Read(text) // it never fails
		for _, m := range []map[string]any{{"role": "user", "content": "Show it."}, {"role": "assistant", "content": nil,
			"tool_calls": []any{map[string]any{"id": "t", "type": "function",
				"function": map[string]any{"name": "sh", "arguments": "{}"}}}},
			{"role": "tool", "tool_call_id": "t", "content": base64.StdEncoding.EncodeToString(text)}} {
			if err := json.NewEncoder(&file).Encode(m); err != nil {
				t.Fatal(err)
			}
		}
	}
	name := filepath.Join(t.TempDir(), "talk.jsonl")
	if err := os.WriteFile(name, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	output(t, data, "--data", data, "import", name)
}

// stored returns what a store holds, as one text.
func stored(t *testing.T, data string) string {
	t.Helper()
	out := output(t, data, "--data", data, "list", "--json")
	return out + output(t, data, "--data", data, "export", "latest", "--format", "jsonl")
}

// fails runs the program and wants an exit code.
func fails(t *testing.T, code int, args ...string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if got := runProgram(context.Background(), args, strings.NewReader(""), &stdout, &stderr); got != code {
		t.Errorf("%v: exit %d instead of %d, %s", args, got, code, stderr.String())
	}
}

// A disk that is full, where a backup goes, where it is restored, or under the store itself, loses nothing: neither
// what is stored nor the backup before; the same command works once there is room.
func TestBackupOnFullDisk(t *testing.T) {
	t.Setenv("SCROLLBACK_IDENTITY", filepath.Join(t.TempDir(), "identity.txt"))
	output(t, t.TempDir(), "identity")
	small := fullDisk(t)
	data := t.TempDir()
	output(t, data, "--data", data, "run", "The key is under the third stone.")
	shelf := filepath.Join(small, "shelf")
	if err := os.Mkdir(shelf, 0o700); err != nil {
		t.Fatal(err)
	}
	output(t, data, "--data", data, "backup", "create", shelf)
	bulky(t, data, 12<<20)
	was := stored(t, data)
	for _, more := range [][]string{nil, {"--encrypt"}} {
		fails(t, 6, append([]string{"--data", data, "backup", "create", shelf, "--keep", "1h"}, more...)...)
	}
	left, err := os.ReadDir(shelf)
	if err != nil || len(left) != 1 {
		t.Fatalf("on the full disk: %v, %v", left, err)
	}
	output(t, data, "--data", data, "backup", "verify", filepath.Join(shelf, left[0].Name()))
	if stored(t, data) != was {
		t.Error("the store changed")
	}

	file := filepath.Join(t.TempDir(), "b.backup")
	output(t, data, "--data", data, "backup", "create", file)
	full := filepath.Join(small, "restored")
	fails(t, 6, "--data", full, "backup", "restore", file)
	if _, err := os.Stat(filepath.Join(full, "scrollback.db")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("half a store was restored: %v", err)
	}
	roomy := filepath.Join(t.TempDir(), "restored")
	output(t, roomy, "--data", roomy, "backup", "restore", file)
	if stored(t, roomy) != was {
		t.Error("what was restored is not what was stored")
	}

	own := filepath.Join(small, "own") // the store itself is on the full disk
	output(t, own, "--data", own, "run", "The tide is at six.")
	was = stored(t, own)
	free := make([]byte, 1<<20)
	hog, err := os.Create(filepath.Join(small, "hog"))
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = hog.Write(free)
	}
	_ = hog.Close() // it is as large as it can be
	fails(t, 6, "--data", own, "backup", "create", filepath.Join(t.TempDir(), "c.backup"), "--encrypt")
	if err := os.Remove(hog.Name()); err != nil {
		t.Fatal(err)
	}
	output(t, own, "--data", own, "backup", "create", filepath.Join(t.TempDir(), "d.backup"), "--encrypt")
	if stored(t, own) != was {
		t.Error("the store on the full disk changed")
	}
}

// A backup or a restore that is killed at any moment leaves the old state or the new one, and the next run ends it.
func TestKilledBackups(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	data := t.TempDir()
	bulky(t, data, 4<<20)
	was := stored(t, data)
	whole := filepath.Join(t.TempDir(), "whole.backup")
	output(t, data, "--data", data, "backup", "create", whole)
	random := rand.New(rand.NewPCG(3, 5))
	// killed runs a command for a part of the time that it takes, and reports whether it had ended.
	killed := func(takes time.Duration, args ...string) bool {
		t.Helper()
		cmd := command(t, data, nil, args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		after := time.AfterFunc(time.Duration(random.Int64N(int64(takes))), func() { _ = cmd.Process.Kill() })
		err := cmd.Wait() // that it was killed is what was wanted
		after.Stop()
		return err == nil
	}
	began := time.Now()
	dir := t.TempDir()
	killed(time.Hour, "backup", "create", filepath.Join(dir, "timed.backup"))
	takes := time.Since(began) * 5 / 4
	count := map[string]int{}
	for i := range testlength.Choose(10, 30, 100) {
		file := filepath.Join(t.TempDir(), "b.backup")
		done := killed(takes, "backup", "create", file)
		_, err := os.Stat(file)
		switch {
		case err == nil:
			output(t, data, "--data", data, "backup", "verify", file)
			count["backup whole"]++
		case done || !errors.Is(err, os.ErrNotExist):
			t.Fatalf("%d: it ended, and there is none: %v", i, err)
		default:
			output(t, data, "--data", data, "backup", "create", file)
			output(t, data, "--data", data, "backup", "verify", file)
			count["backup not there"]++
		}
		to := filepath.Join(t.TempDir(), "to")
		done = killed(takes, "--data", to, "backup", "restore", whole)
		_, err = os.Stat(filepath.Join(to, "scrollback.db"))
		switch {
		case err == nil:
			fails(t, 4, "--data", to, "backup", "restore", whole)
			count["restore whole"]++
		case done || !errors.Is(err, os.ErrNotExist):
			t.Fatalf("%d: it ended, and there is no store: %v", i, err)
		default:
			output(t, to, "--data", to, "backup", "restore", whole)
			count["restore not there"]++
		}
		if stored(t, to) != was {
			t.Fatalf("%d: another store was restored", i)
		}
	}
	if stored(t, data) != was {
		t.Error("the store changed")
	}
	t.Log(count)
}
