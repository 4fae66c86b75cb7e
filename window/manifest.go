package window

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// BuildManifest lists what a window sends, layer by layer, including empty layers. The caller
// adds what a window does not know.
func BuildManifest(w scrollback.Window) scrollback.Manifest {
	m := scrollback.Manifest{Limit: w.Budget.Limit, Budget: w.Budget.Tokens,
		Tokens: w.Weight.Tokens, Bytes: w.Weight.Bytes, Images: w.Weight.Images, Excluded: w.Excluded}
	if m.Excluded == nil {
		m.Excluded = []scrollback.Excluded{}
	}
	at := map[scrollback.Layer]*scrollback.ManifestLayer{}
	m.Layers = make([]scrollback.ManifestLayer, len(scrollback.Layers()))
	for i, name := range scrollback.Layers() {
		m.Layers[i] = scrollback.ManifestLayer{Name: name, Items: []scrollback.ManifestItem{}}
		at[name] = &m.Layers[i]
	}
	put := func(layer scrollback.Layer, it scrollback.ManifestItem) {
		at[layer].Tokens += it.Tokens
		at[layer].Items = append(at[layer].Items, it)
	}
	for _, it := range w.Items {
		if len(it.Holds) > 0 {
			m.KeptApart = append(m.KeptApart, listApart(it.Parts.Text())...)
		}
		rest := it.Weight.Tokens
		for _, h := range it.Holds {
			layer := scrollback.LayerPlaceholders
			if h.Kind == scrollback.KindSummary {
				layer = scrollback.LayerSummary
			}
			put(layer, scrollback.ManifestItem{Kind: h.Kind, Seq: h.FirstSeq, LastSeq: h.LastSeq, Ref: h.Ref, Tokens: h.Tokens})
			rest -= h.Tokens
		}
		if len(it.Joins) == 0 {
			put(it.Layer, scrollback.ManifestItem{Kind: shownKind(w, it.Kind, it.Seq), Seq: it.Seq, Tokens: rest})
		}
		for _, j := range it.Joins {
			put(j.Layer, scrollback.ManifestItem{Kind: shownKind(w, j.Kind, j.Seq), Seq: j.Seq, Tokens: j.Weight.Tokens})
		}
	}
	return m
}

// listApart finds the lines that say where kept sentences are that have no room; see [Words.Older].
func listApart(text string) (out []scrollback.KeptApart) {
	for line := range strings.SplitSeq(text, "\n") {
		for _, w := range words {
			var apart scrollback.KeptApart
			n, err := fmt.Sscanf(line, w.Older, &apart.Sentences, &apart.Ref)
			if kind, _, wrong := apart.Ref.Split(); n == 2 && err == nil && wrong == nil && kind == scrollback.RefArtifact {
				out = append(out, apart)
				break
			}
		}
	}
	return out
}

// shownKind returns the kind of an item as people see it.
func shownKind(w scrollback.Window, kind scrollback.ItemKind, seq int64) scrollback.ItemKind {
	if kind == scrollback.KindMessage && slices.Contains(w.Pinned, seq) {
		return scrollback.KindPin
	}
	return kind
}

// MarkWindow identifies the bytes that a window begins with, to be compared with the next
// one. It does not cover what is for this request only.
func MarkWindow(w scrollback.Window) *scrollback.WindowMark {
	m := &scrollback.WindowMark{}
	h := sha256.New()
	for i, it := range w.Items {
		if it.Layer == scrollback.LayerRequestOnly {
			break
		}
		hashItem(h, it, w.Tools)
		m.Items = i + 1
		m.Tokens += it.Weight.Tokens
		m.Hash = hashSum(h)
		if i+1 == len(w.Items) || w.Items[i+1].Layer != it.Layer {
			m.Layers = append(m.Layers, scrollback.LayerMark{Items: m.Items, Tokens: m.Tokens, Hash: m.Hash})
		}
	}
	return m
}

// ReusedShare returns the share of w's tokens, 0 to 1, that it has in common with the
// beginning of the window that prev marks.
func ReusedShare(prev *scrollback.WindowMark, w scrollback.Window) float64 {
	if w.Weight.Tokens == 0 {
		return 0
	}
	return float64(ReusedTokens(prev, w)) / float64(w.Weight.Tokens)
}

// ReusedTokens returns the same in tokens.
func ReusedTokens(prev *scrollback.WindowMark, w scrollback.Window) int64 {
	if prev == nil {
		return 0
	}
	marks := append([]scrollback.LayerMark{{Items: prev.Items, Tokens: prev.Tokens, Hash: prev.Hash}}, prev.Layers...)
	var kept int64
	h := sha256.New()
	for i, it := range w.Items {
		hashItem(h, it, w.Tools)
		for _, m := range marks {
			if m.Items == i+1 && m.Tokens > kept && m.Hash == hashSum(h) {
				kept = m.Tokens
			}
		}
	}
	return kept
}

// HashWindow is of everything that a window sends.
func HashWindow(w scrollback.Window) string {
	h := sha256.New()
	for _, it := range w.Items {
		hashItem(h, it, w.Tools)
	}
	return hashSum(h)[:32]
}

// hashItem hashes what of an item is sent to a provider: the JSON of its role, name, parts
// and tools, and a line break.
func hashItem(h hash.Hash, it scrollback.Item, tools []scrollback.Tool) {
	if it.Kind != scrollback.KindTools {
		tools = nil
	}
	sent, err := itemJSON(it, tools)
	if err != nil {
		sent = []byte(err.Error()) // parts that are not JSON never match
	}
	h.Write(sent)
}

// itemJSON writes the parts, most of an item, without json.Marshal around them: that would
// read every byte of theirs again. TestItemJSON holds that the bytes are the same, which
// marks of windows sent before are compared with.
func itemJSON(it scrollback.Item, tools []scrollback.Tool) ([]byte, error) {
	head, err := json.Marshal(struct {
		Role scrollback.Role
		Name string
	}{it.Role, it.Name})
	if err != nil {
		return nil, err
	}
	parts, err := it.Parts.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var sent bytes.Buffer
	sent.Grow(len(head) + len(parts) + len(parts)/8)
	sent.Write(head[:len(head)-1])
	sent.WriteString(`,"Parts":`)
	json.HTMLEscape(&sent, parts)
	if len(tools) > 0 {
		list, err := json.Marshal(tools)
		if err != nil {
			return nil, err
		}
		sent.WriteString(`,"Tools":`)
		sent.Write(list)
	}
	sent.WriteString("}\n")
	return sent.Bytes(), nil
}

func hashSum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }
