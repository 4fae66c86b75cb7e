package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// longestOf returns the conversation of a folder with the most messages.
func longestOf(t *testing.T, data string) scrollback.ConversationID {
	t.Helper()
	var list struct{ Conversations []scrollback.Conversation }
	_, out, errs := inside(t, data, "list", "--json")
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list.Conversations) == 0 {
		t.Fatalf("list: %v: %s%s", err, out, errs)
	}
	best := list.Conversations[0]
	for _, c := range list.Conversations {
		if c.Messages > best.Messages {
			best = c
		}
	}
	return best.ID
}

// flipped returns a copy of bytes with one bit changed.
func flipped(from []byte, random *rand.Rand) (b []byte, at int) {
	b = append([]byte{}, from...)
	at = random.IntN(len(b))
	b[at] ^= 1 << random.IntN(8)
	return b, at
}

// Of 200 bits that change at random (a fifth of them at full length, a fifteenth at the short
// one), in the database, a full copy and a bundle, each is harmless (what was said is read as
// it was), reported by the doctor, or refused.
func TestFlips(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	data := aFolder(t)
	id := string(longestOf(t, data))
	files := t.TempDir()
	archive := filepath.Join(files, "talk.json")
	bundle := filepath.Join(files, "talk.bundle")
	for _, args := range [][]string{{"archive", id, "-o", archive}, {"export", id, "-o", bundle}} {
		if code, _, errs := inside(t, data, args...); code != 0 {
			t.Fatalf("%v: exit %d: %s", args, code, errs)
		}
	}
	random := rand.New(rand.NewPCG(20, 26))
	count := map[string]int{}
	for _, c := range []struct {
		file  string
		times int
		judge func(b []byte) string
	}{
		{filepath.Join(data, "scrollback.db"), 100, storeFlip(t, data, id)},
		{archive, 50, fileFlip(t, archive)},
		{bundle, 50, fileFlip(t, bundle)},
	} {
		whole, err := os.ReadFile(c.file)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.judge(whole); got != "harmless" {
			t.Fatalf("%s as it is: %s", filepath.Base(c.file), got)
		}
		for range testlength.Choose(c.times/15, c.times/5, c.times) {
			b, at := flipped(whole, random)
			got := c.judge(b)
			count[filepath.Base(c.file)+" "+got]++
			if got == "wrong" {
				t.Errorf("%s: a bit of byte %d of %d: read as something else", filepath.Base(c.file), at, len(b))
			}
		}
	}
	t.Log(fmt.Sprint(count))
}

// What changed is not sealed, exported or copied as if it were right, and can still be read.
func TestChangedMessageIsNotPassedOn(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	for _, args := range [][]string{{"run", "The key is under the bollard"},
		{"run", "--conversation", "latest", "Which bollard?"}} {
		if code, _, errs := inside(t, data, args...); code != 0 {
			t.Fatalf("%v: exit %d: %s", args, code, errs)
		}
	}
	raw(t, data, `UPDATE messages SET parts = replace(parts, 'bollard', 'boulder') WHERE seq = 1`)
	for _, args := range [][]string{{"export", "latest", "-o", filepath.Join(t.TempDir(), "x.bundle")},
		{"archive", "latest"},
		{"export", "latest", "--format", "jsonl"}, {"export", "latest", "--format", "mtm"},
		{"export", "latest", "--format", "ipynb"},
		{"export", "latest", "--format", "gemini-cli"}, {"export", "latest", "--format", "codex"}, {"clear", "latest"}} {
		code, out, errs := inside(t, data, args...)
		if code != 1 || out != "" || !strings.Contains(errs, "message #1 (") ||
			!strings.Contains(errs, "is not as it was stored") {
			t.Errorf("%v: exit %d: %s%s", args, code, out, errs)
		}
	}
	if code, out, _ := inside(t, data, "show", "latest"); code != 0 || !strings.Contains(out, "boulder") {
		t.Errorf("show: exit %d: %s", code, out)
	}
}

// storeFlip judges a folder with another database.
func storeFlip(t *testing.T, sound, id string) func(b []byte) string {
	_, was, _ := inside(t, sound, "show", id, "--json")
	return func(b []byte) string {
		data := t.TempDir()
		if err := os.CopyFS(data, os.DirFS(sound)); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(data, "scrollback.db"), b)
		if code, _, _ := inside(t, data, "doctor"); code != 0 {
			return "reported"
		}
		code, now, _ := inside(t, data, "show", id, "--json")
		switch {
		case code != 0:
			return "refused"
		case now == was:
			return "harmless"
		}
		return "wrong"
	}
}

// fileFlip judges a file by what its import makes of it.
func fileFlip(t *testing.T, whole string) func(b []byte) string {
	read := func(name string) (code int, said string) {
		data := t.TempDir()
		if code, _, _ := inside(t, data, "import", name); code != 0 {
			return code, ""
		}
		code, out, _ := inside(t, data, "show", "latest", "--json")
		var talk struct {
			Messages []struct {
				Seq       int64           `json:"seq"`
				Role      string          `json:"role"`
				Name      string          `json:"name"`
				Model     string          `json:"model"`
				Parts     json.RawMessage `json:"parts"`
				CreatedAt int64           `json:"created_at"`
			} `json:"messages"`
		}
		if err := json.Unmarshal([]byte(out), &talk); err != nil {
			return 1, ""
		}
		return code, fmt.Sprintf("%+v", talk)
	}
	_, was := read(whole)
	return func(b []byte) string {
		name := filepath.Join(t.TempDir(), filepath.Base(whole))
		write(t, name, b)
		switch code, now := read(name); {
		case code != 0:
			return "refused"
		case now == was:
			return "harmless"
		}
		return "wrong"
	}
}
