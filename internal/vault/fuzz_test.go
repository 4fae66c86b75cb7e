package vault

import (
	"encoding/json"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/identity"
)

func fuzzKeys() identity.Keys { return identity.FromSeed([32]byte{1, 2, 3}) }

func fuzzRoster(f testing.TB) roster {
	own, err := fuzzKeys().Own()
	if err != nil {
		f.Fatal(err)
	}
	return roster{Secret: make([]byte, 32), Members: []member{{ID: "a", Name: "a", Recipient: own.Recipient}},
		Keys: []epochKey{{ID: make([]byte, keyIDBytes), Key: make([]byte, 32)}}} // the same in each process
}

// Whatever stands in an object, opening it gives what was sealed or an error.
func FuzzObject(f *testing.F) {
	r := fuzzRoster(f)
	o := r.opener()
	key, _ := r.key()
	object, err := o.seal(key, dataKind, "w", []byte("text"), 0)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(object, "data", "w")
	f.Add(object[:len(object)-1], "data", "w")
	f.Add(object, "head", "w")
	f.Fuzz(func(t *testing.T, text []byte, k, writer string) {
		got, err := o.open(kind(k), writer, text)
		if err == nil && (string(got) != "text" || string(text) != string(object) || k != "data" || writer != "w") {
			t.Errorf("%q of %s by %s is opened as %q", text, k, writer, got)
		}
	})
}

// Heads, indexes and manifests that are read are in order, whatever stood there.
func FuzzHead(f *testing.F) {
	w, err := deriveWriter(fuzzKeys(), []byte("salt"))
	if err != nil {
		f.Fatal(err)
	}
	good := head{Number: 3, First: 2, Last: 6, Indexes: []index{{"x", 4}}, Runs: []run{{First: 5, Sizes: []int{3, 4},
		Objects: []piece{{"y", 7}}}}}
	text, err := json.Marshal(good)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"number":3,"first":18446744073709551615,"last":18446744073709551615}`))
	f.Add([]byte(`[{"first":1,"sizes":[1],"objects":[{"used":1}]}]`))
	f.Add([]byte("\x00\x00\x00\x0b{\"size\":2}  ab"))
	f.Fuzz(func(t *testing.T, text []byte) {
		payload, err := encodeHead(good, "v", w)
		if err != nil {
			t.Fatal(err)
		}
		payload = append(payload[:signatureBytes:signatureBytes], text...)
		if _, err := decodeHead(payload, "v", w.id, 3); err == nil && string(text) != string(payload[signatureBytes:]) {
			t.Error("it is not signed, and is read")
		}
		if h, err := parseHead(text, 3); err == nil {
			before := h.First - 1
			for _, i := range h.Indexes {
				before = i.Last
			}
			mustFollow(t, h.Runs, before, h.Last)
		}
		if runs, err := decodeIndex(text, 1); err == nil {
			mustFollow(t, runs, runs[0].First-1, 1)
		}
		if m, beside, err := decodeManifest(text); err == nil {
			total := int64(len(beside))
			for _, p := range m.Pieces {
				total += int64(p.Used)
			}
			if total != m.Size {
				t.Errorf("%+v with %d", m, len(beside))
			}
		}
	})
}

// mustFollow fails unless runs follow each other, and each batch can be cut out of its objects.
func mustFollow(t *testing.T, runs []run, before, last uint64) {
	for _, r := range runs {
		if r.First != before+1 {
			t.Errorf("%d follows %d", r.First, before)
		}
		for i, size := range r.Sizes {
			held := 0
			for _, p := range r.pieces(i) {
				held += p.Used
			}
			if held < size {
				t.Errorf("%d bytes of %d", held, size)
			}
		}
		before = r.last()
	}
	if before != last {
		t.Errorf("they end with %d, not %d", before, last)
	}
}

// Whatever stands in a key list, it is by a member or not opened.
func FuzzKeyList(f *testing.F) {
	r := fuzzRoster(f)
	object, err := sealRoster(r, fuzzKeys())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(object, []byte("{}"))
	f.Add(object[:60], []byte(`{"author":"x","roster":{},"proofs":{}}`))
	f.Fuzz(func(t *testing.T, text, inside []byte) {
		for _, secret := range [][]byte{nil, r.Secret} {
			if got, err := openRoster(text, fuzzKeys(), secret); err == nil && got.digest() != r.digest() {
				t.Errorf("%+v", got)
			}
		}
		// What somebody sealed for us who is no member of anything.
		sealed, err := sealFor(fuzzKeys(), nil, json.RawMessage(inside))
		if err != nil {
			return
		}
		list := append(append([]byte{format}, listTag(r.Secret, sealed)...), sealed...)
		if got, err := openRoster(list, fuzzKeys(), r.Secret); err == nil {
			t.Errorf("%+v by nobody", got)
		}
	})
}

func FuzzPhrase(f *testing.F) {
	f.Add(makePhrase())
	f.Add("oooo-iiii")
	f.Fuzz(func(t *testing.T, text string) {
		k, err := readPhrase(text)
		if err != nil {
			return
		}
		if own, err := k.Own(); err != nil || identity.CheckRecipient(own.Recipient) != nil {
			t.Errorf("%q gives %+v, %v", text, own, err)
		}
	})
}

func FuzzNames(f *testing.F) {
	f.Add(headKey(encodeName(make([]byte, 32)), 7, encodeName(make([]byte, 32))))
	f.Add("m/a/h00000001-b")
	f.Fuzz(func(t *testing.T, key string) {
		p, ok := parseKey(key)
		if !ok {
			return
		}
		var back string
		switch p.kind {
		case headKind:
			back = headKey(p.writer, p.number, p.name)
		case listKind:
			back = listKey(p.writer, p.name)
		case dataKind:
			back = dataKey(p.writer, p.name)
		default:
			back = artifactKey(p.writer, p.kind == manifestKind, p.keyed, p.name)
		}
		if back != key {
			t.Errorf("%s is read as %+v", key, p)
		}
	})
}
