package claudecode

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// FuzzDecode holds what is read of a line and of a block against what encoding/json reads.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{"type":"user","message":{"role":"user","content":"hi"},"uuid":"a","isMeta":true}`,
		`{"TYPE":"user","type":"x"}`, `{"type":null,"uuid":3}`, `{"type":"a","message":"b"}`,
		`{"type":"a","message":null}`, `[]`, `"a"`,
		`{"type":"a","\u0074ype":"b"}`, `{"type":"a","ſessionId":"b"}`, `{"type":"a","message":{"ID":"x","id":"y"}}`,
		`{"type":"a","message":{"id":1,"usage":{"input_tokens":2}},"message":{"model":"m"}}`,
		`{"type":"a","isMeta":"true","toolUseResult":"x"}`,
		`{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"x\n"}],"is_error":false}`,
		`{"type":"tool_result","input":null,"content":null}`,
		`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="},"Source":{"url":"u"}}`} {
		f.Add([]byte(seed))
	}
	_ = filepath.WalkDir("testdata", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".jsonl" {
			return err
		}
		text, err := os.ReadFile(path)
		for l := range bytes.Lines(text) {
			f.Add(bytes.TrimSpace(l))
		}
		return err
	})
	f.Fuzz(func(t *testing.T, raw []byte) {
		if raw = bytes.TrimSpace(raw); !json.Valid(raw) {
			return
		}
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
		want := &line{}
		wantErr := json.Unmarshal(raw, want)
		got, err := decodeLine(raw)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s is\n%+v, want\n%+v", raw, got, want)
		}
		if want.Type == "" && (err == nil) != (wantErr == nil) {
			t.Fatalf("%s: %v, want %v", raw, err, wantErr)
		}
		var wanted block
		_ = json.Unmarshal(raw, &wanted) // fields of another type are missing
		if b := decodeBlock(raw); !reflect.DeepEqual(b, wanted) {
			t.Fatalf("%s is\n%+v, want\n%+v", raw, b, wanted)
		}
		var texts []block
		var all []json.RawMessage
		var one string
		if strings.HasPrefix(string(raw), "[") && json.Unmarshal(raw, &all) == nil {
			for _, r := range all {
				b := block{Type: "text"}
				if json.Unmarshal(r, &b.Text) != nil || r[0] != '"' {
					b = decodeBlock(r)
				}
				texts = append(texts, b)
			}
		} else if json.Unmarshal(raw, &one) == nil && raw[0] == '"' {
			texts = []block{{Type: "text", Text: one}}
		}
		if blocks := bodyBlocks(raw); !reflect.DeepEqual(blocks, texts) {
			t.Fatalf("%s has\n%+v, want\n%+v", raw, blocks, texts)
		}
	})
}
