package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// makeSource writes the source: sessions of prompts, answers, calls and their results, as long as
// those of people who work with the tool.
func (b bench) makeSource(s size) (wrote int64, lines int, err error) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range s.sessions {
		name := b.sessionFile(i)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return wrote, lines, err
		}
		f, err := os.Create(name)
		if err != nil {
			return wrote, lines, err
		}
		w := &writer{w: bufio.NewWriter(f), rng: rng, words: rand.NewZipf(rng, 1.1, 4, uint64(len(vocabulary)-1)),
			session: newID(rng), at: time.Unix(1_760_000_000+int64(i)*3600, 0), prose: s.prose}
		for w.wrote < int64(s.bytes/s.sessions) {
			w.writeExchange()
		}
		wrote += w.wrote
		lines += w.lines
		if err := w.w.Flush(); err != nil {
			return wrote, lines, err
		}
		if err := f.Close(); err != nil {
			return wrote, lines, err
		}
		old := time.Now().Add(-time.Hour) // nobody is writing to it
		if err := os.Chtimes(name, old, old); err != nil {
			return wrote, lines, err
		}
	}
	return wrote, lines, nil
}

// sessionFile returns the name of a session's file.
func (b bench) sessionFile(i int) string {
	return filepath.Join(b.home, ".claude", "projects", fmt.Sprintf("-work-p%d", i%16),
		fmt.Sprintf("%08x-0000-4000-8000-000000000000.jsonl", i))
}

func newID(rng *rand.Rand) string {
	return fmt.Sprintf("%08x-%04x-4000-8000-%012x", rng.Uint32(), rng.Uint32()&0xffff, rng.Uint64()&0xffffffffffff)
}

// writer writes a session line by line.
type writer struct {
	w       *bufio.Writer
	rng     *rand.Rand
	words   *rand.Zipf // few words are frequent
	session string
	parent  string
	at      time.Time
	prose   bool // sentences that differ, and short outputs of tools
	wrote   int64
	lines   int
}

// writeLine writes a node behind the one before.
func (w *writer) writeLine(kind string, message any, more map[string]any) {
	own := newID(w.rng)
	w.at = w.at.Add(time.Second)
	node := map[string]any{"type": kind, "uuid": own, "parentUuid": nil, "sessionId": w.session, "cwd": "/work/project",
		"gitBranch": "main", "version": "2.1.197",
		"isSidechain": false, "userType": "external", "timestamp": w.at.UTC().Format("2006-01-02T15:04:05.000Z"),
		"message": message}
	if w.parent != "" {
		node["parentUuid"] = w.parent
	}
	for k, v := range more {
		node[k] = v
	}
	text, err := json.Marshal(node)
	if err != nil {
		panic(err) // it is made of texts
	}
	n, _ := w.w.Write(append(text, '\n')) // Flush returns the error
	w.wrote += int64(n)
	w.lines += 1
	w.parent = own
}

// writeExchange writes a prompt, and an answer that calls a tool.
func (w *writer) writeExchange() {
	w.writeLine("user", map[string]any{"role": "user", "content": w.makeText(40)}, nil)
	model := "claude-sonnet-4-5"
	call := "toolu_" + newID(w.rng)
	answer := "msg_" + newID(w.rng)
	usage := map[string]any{"input_tokens": 1000, "output_tokens": 200}
	say := func(answer string, block map[string]any) {
		w.writeLine("assistant", map[string]any{"id": answer, "role": "assistant", "model": model, "content": []any{block},
			"usage": usage}, nil)
	}
	say(answer, map[string]any{"type": "text", "text": w.makeText(60)})
	say(answer, map[string]any{"type": "tool_use", "id": call, "name": "Bash",
		"input": map[string]any{"command": "grep -rn " + w.makeText(3)}})
	output := w.makeOutput(100 + w.rng.IntN(700))
	w.writeLine("user", map[string]any{"role": "user",
		"content": []any{map[string]any{"type": "tool_result", "tool_use_id": call, "content": output}}},
		map[string]any{"toolUseResult": map[string]any{"stdout": output, "stderr": ""}})
	say("msg_"+newID(w.rng), map[string]any{"type": "text", "text": w.makeText(150)})
}

// makeOutput returns what a tool printed, of about n words; a tenth of that among prose.
func (w *writer) makeOutput(words int) string {
	if w.prose {
		words /= 10
	}
	return w.makeText(words)
}

// makeText returns about n words.
func (w *writer) makeText(words int) string {
	if w.prose {
		return w.makeProse(words)
	}
	var b strings.Builder
	for range words {
		b.WriteString(vocabulary[int(w.words.Uint64())])
		b.WriteByte(" \n"[w.rng.IntN(12)/11])
	}
	return b.String()
}

// vocabulary are made words.
var vocabulary = func() (words []string) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		var b strings.Builder
		for range 1 + rng.IntN(4) {
			b.WriteByte("bdfgklmnprstvz"[rng.IntN(14)])
			b.WriteByte("aeiou"[rng.IntN(5)])
		}
		words = append(words, b.String())
	}
	return words
}()
