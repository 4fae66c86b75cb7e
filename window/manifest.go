package window

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"reflect"
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
		if !strings.Contains(line, scrollback.RefArtifact+":") {
			continue
		}
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

// Fingerprint identifies the bytes of a window, item by item: for its mark, and for what of it was sent before.
type Fingerprint struct {
	of   scrollback.Window
	at   []hash.Hash // behind each item
	sums []string    // in hexadecimal
}

// TakeFingerprint hashes a window. Another one may be given, of the request before it: what both begin with is not
// hashed again. Nil is none.
func TakeFingerprint(w scrollback.Window, last *Fingerprint) *Fingerprint {
	f := &Fingerprint{of: w}
	n := 0
	if last != nil {
		n = last.countSame(&w)
		f.at = slices.Clone(last.at[:n])
		f.sums = slices.Clone(last.sums[:n])
	}
	h := sha256.New()
	for i := n; i < len(w.Items); i++ {
		if i > 0 {
			h = cloneHash(f.at[i-1])
		}
		hashItem(h, w.Items[i], w.Tools)
		f.at = append(f.at, h)
		f.sums = append(f.sums, hashSum(h))
	}
	return f
}

func cloneHash(h hash.Hash) hash.Hash {
	c, err := h.(hash.Cloner).Clone()
	if err != nil {
		panic("window: SHA-256 has no copy: " + err.Error()) // it always has
	}
	return c
}

// countSame counts the items with which a window begins as this one does. The parts of messages never change, so that
// those at one address are the same.
func (f *Fingerprint) countSame(w *scrollback.Window) int {
	n := 0
	for n < min(len(f.of.Items), len(w.Items)) {
		a := &f.of.Items[n]
		b := &w.Items[n]
		if a.Kind != b.Kind || a.Role != b.Role || a.Name != b.Name || !sameParts(a.Parts, b.Parts) ||
			a.Kind == scrollback.KindTools && !reflect.DeepEqual(f.of.Tools, w.Tools) {
			break
		}
		n++
	}
	return n
}

func sameParts(a, b scrollback.Parts) bool {
	if len(a) != len(b) || len(a) == 0 || &a[0] == &b[0] {
		return len(a) == len(b)
	}
	for i := range a {
		x, isText := a[i].(scrollback.Text)
		y, also := b[i].(scrollback.Text)
		if !isText || !also || x.Text != y.Text || !isBare(&x) || !isBare(&y) {
			return false
		}
	}
	return true
}

// isBare reports whether a text has nothing beside it.
func isBare(t *scrollback.Text) bool { return len(t.Opaque) == 0 && t.Reference == nil && t.Cut == nil }

// Mark identifies the bytes that the window begins with, to be compared with the next one. It does not cover what is
// for this request only.
func (f *Fingerprint) Mark() *scrollback.WindowMark {
	m := &scrollback.WindowMark{}
	for i, it := range f.of.Items {
		if it.Layer == scrollback.LayerRequestOnly {
			break
		}
		m.Items = i + 1
		m.Tokens += it.Weight.Tokens
		m.Hash = f.sums[i]
		if i+1 == len(f.of.Items) || f.of.Items[i+1].Layer != it.Layer {
			m.Layers = append(m.Layers, scrollback.LayerMark{Items: m.Items, Tokens: m.Tokens, Hash: m.Hash})
		}
	}
	return m
}

// ReusedShare returns the share of the window's tokens, 0 to 1, that it has in common with the beginning of the one
// that prev marks.
func (f *Fingerprint) ReusedShare(prev *scrollback.WindowMark) float64 {
	if f.of.Weight.Tokens == 0 {
		return 0
	}
	return float64(f.ReusedTokens(prev)) / float64(f.of.Weight.Tokens)
}

// ReusedTokens returns the same in tokens.
func (f *Fingerprint) ReusedTokens(prev *scrollback.WindowMark) int64 {
	if prev == nil {
		return 0
	}
	marks := append([]scrollback.LayerMark{{Items: prev.Items, Tokens: prev.Tokens, Hash: prev.Hash}}, prev.Layers...)
	var kept int64
	for _, m := range marks {
		if m.Items > 0 && m.Items <= len(f.sums) && m.Hash == f.sums[m.Items-1] {
			kept = max(kept, m.Tokens)
		}
	}
	return kept
}

// Hash is of everything that the window sends.
func (f *Fingerprint) Hash() string {
	if len(f.sums) == 0 {
		return hashSum(sha256.New())[:32]
	}
	return f.sums[len(f.sums)-1][:32]
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
