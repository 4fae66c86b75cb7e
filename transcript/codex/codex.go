// Package codex reads the conversations that Codex CLI keeps, from its first rollouts to
// 0.169, and writes one that it resumes.
//
// Words it adds: rollout (a file of JSON lines), thread (a conversation, of one rollout, or
// of several after a revert), item (what a model reads or says; several are one answer),
// turn (what follows a person's message until the next), base (the rollout that another one
// goes on from).
//
// Invariants: what is talk is told by the items alone; a thread is known by its id, wherever
// its files are; what a rewind or a revert took away is an earlier branch; lines that a fork
// shares with its origin, or copied from it, are told as the origin tells them; files are
// read through the place only, and never those with credentials.
//
// It may not know the store, the network or other tools.
package codex

import (
	"bytes"
	"path"
	"strings"

	"github.com/scrollback-ai/scrollback/transcript"
)

// Name is the tool's name, and that of its fields in meta.
const Name = "codex"

// TraeXName is what TraeX is called, the command line of Trae, which is made of Codex.
const TraeXName = "traex"

// Tool is Codex, or TraeX. The zero value is Codex.
type Tool struct{ trae bool }

// TraeX returns the tool that reads the rollouts of TraeX. They begin as Codex' do, so that one that is uploaded is
// taken for one of those.
func TraeX() Tool { return Tool{trae: true} }

// isTrae reports whether a place is one of TraeX'.
func isTrae(p transcript.Place) bool {
	return strings.Contains(strings.ReplaceAll(p.Path, `\`, "/")+"/", "/.trae/")
}

// Name implements transcript.Tool.
func (t Tool) Name() string {
	if t.trae {
		return TraeXName
	}
	return Name
}

// Homes implements transcript.Tool.
func (t Tool) Homes(m transcript.Machine) []string {
	if t.trae {
		return []string{strings.TrimRight(m.Home, `/\`) + "/.trae/cli"}
	}
	if home := m.Getenv("CODEX_HOME"); home != "" {
		return []string{home}
	}
	if m.Home == "" {
		return nil
	}
	return []string{strings.TrimRight(m.Home, `/\`) + "/.codex"}
}

// Sniff implements transcript.Tool: a rollout begins with what it says about its thread. One
// that is packed is known by its name alone.
func (t Tool) Sniff(name string, head []byte) bool {
	if t.trae {
		return false
	}
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	if strings.HasPrefix(base, "rollout-") && strings.HasSuffix(base, ".jsonl.zst") {
		return bytes.HasPrefix(head, zstdMagic)
	}
	h, ok := readHead(bytes.NewReader(head))
	return ok && (h.tagged || strings.HasPrefix(base, "rollout-"))
}
