package plainjson_test

import (
	"testing"

	"github.com/scrollback-ai/scrollback/internal/plainjson"
)

// Texts stay as they are, and nothing stands before or behind the value.
func TestMarshal(t *testing.T) {
	got, err := plainjson.Marshal(map[string]string{"a": "<b> & 潮\n"})
	if err != nil || string(got) != `{"a":"<b> & 潮\n"}` {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := plainjson.Marshal(func() {}); err == nil {
		t.Errorf("a function became %q", got)
	}
}
