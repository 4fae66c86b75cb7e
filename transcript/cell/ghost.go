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

// ReadReferences returns the texts of a block; nil if it is none, such as the text of older files.
func ReadReferences(block json.RawMessage) (out scrollback.Parts) {
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
			out = append(out, referenceText(ref, ""))
			continue
		}
		var content string
		if json.Unmarshal(f.Content, &content) != nil {
			return nil
		}
		out = append(out, referenceText(withMeasure(ref, content), content))
	}
	for _, t := range g.Tools {
		ref := &scrollback.Reference{Mark: t.Key + t.ArgsText, Source: t.Key + t.ArgsText, Kind: scrollback.ReferenceTool}
		out = append(out, referenceText(withMeasure(ref, t.Content), t.Content))
	}
	return out
}

// WithContents returns a block with the contents of files, by their keys, whose content it leaves out.
func WithContents(block json.RawMessage, contents map[string]string) json.RawMessage {
	var g Ghost
	if len(contents) == 0 || json.Unmarshal(block, &g) != nil {
		return block
	}
	for i, f := range g.Files {
		if content, ok := contents[f.Key]; ok && string(f.Content) == "null" {
			g.Files[i].Content, _ = marshalPlain(content) // a text can always be written
		}
	}
	out, err := marshalPlain(g)
	if err != nil {
		return block
	}
	return out
}

// referenceText returns what a model reads of a reference.
func referenceText(ref *scrollback.Reference, content string) scrollback.Text {
	return scrollback.Text{Text: referenceHead(ref) + content, Reference: ref}
}

// referenceHead returns the line before the content of a reference that was read from a file.
func referenceHead(ref *scrollback.Reference) string {
	line := "[" + string(ref.Kind) + " " + strings.Join(strings.Fields(ref.Source), " ")
	if ref.Version > 0 {
		line += fmt.Sprintf(", version %d", ref.Version)
	}
	if ref.SHA256 == "" && ref.Note != "" {
		return line + ": " + ref.Note + "]"
	}
	return line + "]\n"
}

// referenceContent returns what a reference brought, without what is told of it: behind its first line
// and between the fences, where there are any.
func referenceContent(t scrollback.Text) string {
	if s, ok := strings.CutPrefix(t.Text, referenceHead(t.Reference)); ok && !strings.HasPrefix(s, "```") {
		return s
	}
	first, rest, ok := strings.Cut(t.Text, "\n")
	if !ok || !strings.HasPrefix(first, "[") || !strings.HasSuffix(first, "]") {
		return t.Text
	}
	fence := rest[:len(rest)-len(strings.TrimLeft(rest, "`"))]
	_, inner, ok := strings.Cut(rest, "\n")
	inner, closed := strings.CutSuffix(inner, fence)
	if len(fence) < 3 || !ok || !closed {
		return rest
	}
	if int64(len(inner)) == t.Reference.Bytes+1 {
		return strings.TrimSuffix(inner, "\n") // it was added so that the fence has its own line
	}
	return inner
}

func withMeasure(ref *scrollback.Reference, content string) *scrollback.Reference {
	sum := sha256.Sum256([]byte(content))
	ref.SHA256 = hex.EncodeToString(sum[:])
	ref.Bytes = int64(len(content))
	return ref
}

// NewGhost returns the block of references; nil if there are none. What could not be read, and
// images, have no place in it.
func NewGhost(references scrollback.Parts) *Ghost {
	g := Ghost{Files: []GhostFile{}, Tools: []GhostTool{}}
	for _, p := range references {
		t, ok := p.(scrollback.Text)
		if !ok || t.Reference == nil || t.Reference.Error != "" {
			continue
		}
		r := t.Reference
		content := referenceContent(t)
		if r.Kind == scrollback.ReferenceTool {
			key := r.Source
			args := ""
			if i := strings.IndexByte(key, '{'); i >= 0 {
				key, args = key[:i], key[i:]
			}
			g.Tools = append(g.Tools, GhostTool{key, args, content})
			continue
		}
		if r.Kind == scrollback.ReferenceImage {
			continue
		}
		f := GhostFile{Key: r.Source, Version: max(r.Version, 1), Content: json.RawMessage("null")}
		if r.SameAs == 0 && r.SHA256 != "" {
			f.Content, _ = marshalPlain(content) // a text can always be written
		}
		g.Files = append(g.Files, f)
	}
	if len(g.Files)+len(g.Tools) == 0 {
		return nil
	}
	return &g
}
