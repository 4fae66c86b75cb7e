package cell

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// Ghost is what the references of a prompt brought. A file whose content is null has not
// changed since that version.
type Ghost struct {
	Files []GhostFile `json:"files"`
	Tools []GhostTool `json:"tools"`
}

// GhostFile is a file, or a range of its lines.
type GhostFile struct {
	Key     string          `json:"key"`
	Version int             `json:"version"`
	Content json.RawMessage `json:"content"`
}

// GhostTool is a call that was made before the model was asked.
type GhostTool struct {
	Key      string `json:"key"`
	ArgsText string `json:"argsText"`
	Content  string `json:"content"`
}

// References are the texts of a block; nil if it is none, such as the text of older files.
func References(block json.RawMessage) (out scrollback.Parts) {
	var g Ghost
	if len(block) == 0 || json.Unmarshal(block, &g) != nil || g.Files == nil || g.Tools == nil {
		return nil
	}
	for _, f := range g.Files {
		ref := &scrollback.Reference{Mark: f.Key, Source: f.Key, Kind: scrollback.ReferenceFile, Version: f.Version}
		if f.Version < 1 || f.Content == nil {
			return nil
		}
		if string(f.Content) == "null" {
			ref.Note = fmt.Sprintf("unchanged, see version %d", f.Version)
			out = append(out, scrollback.Text{Reference: ref})
			continue
		}
		var content string
		if json.Unmarshal(f.Content, &content) != nil {
			return nil
		}
		out = append(out, scrollback.Text{Text: content, Reference: measured(ref, content)})
	}
	for _, t := range g.Tools {
		ref := &scrollback.Reference{Mark: t.Key + t.ArgsText, Source: t.Key + t.ArgsText, Kind: scrollback.ReferenceTool}
		out = append(out, scrollback.Text{Text: t.Content, Reference: measured(ref, t.Content)})
	}
	return out
}

func measured(ref *scrollback.Reference, content string) *scrollback.Reference {
	sum := sha256.Sum256([]byte(content))
	ref.SHA256, ref.Bytes = hex.EncodeToString(sum[:]), int64(len(content))
	return ref
}

// GhostOf is the block of references; nil if there are none. What could not be read has no
// place in it.
func GhostOf(references scrollback.Parts) *Ghost {
	g := Ghost{Files: []GhostFile{}, Tools: []GhostTool{}}
	for _, p := range references {
		t, ok := p.(scrollback.Text)
		if !ok || t.Reference == nil || t.Reference.Error != "" {
			continue
		}
		r := t.Reference
		if r.Kind == scrollback.ReferenceTool {
			key, args := r.Source, ""
			if i := strings.IndexByte(key, '{'); i >= 0 {
				key, args = key[:i], key[i:]
			}
			g.Tools = append(g.Tools, GhostTool{key, args, t.Text})
			continue
		}
		f := GhostFile{Key: r.Source, Version: max(r.Version, 1), Content: json.RawMessage("null")}
		if r.SameAs == 0 && (t.Text != "" || r.Bytes > 0 || r.SHA256 != "") {
			f.Content, _ = plain(t.Text) // a text can always be written
		}
		g.Files = append(g.Files, f)
	}
	if len(g.Files)+len(g.Tools) == 0 {
		return nil
	}
	return &g
}
