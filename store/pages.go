package store

import (
	"encoding/base64"
	"encoding/json"
	"iter"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// pageSize is how many entries a list returns when n are requested, 0 for the default.
func pageSize(n int) (int, error) {
	switch {
	case n < 0 || n > scrollback.ListMax:
		return 0, scrollback.ParamErrorf("store.pageSize", "limit", "limit must be 1 to %d", scrollback.ListMax)
	case n == 0:
		return scrollback.ListDefault, nil
	}
	return n, nil
}

// cursor is a list key as opaque text.
func cursor(k driver.ListKey) string {
	b, err := json.Marshal(k)
	if err != nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

func parseCursor(s string) (*driver.ListKey, error) {
	if s == "" {
		return nil, nil
	}
	var k driver.ListKey
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || json.Unmarshal(b, &k) != nil {
		return nil, scrollback.ParamErrorf("store", "cursor", "this is not a cursor of ours")
	}
	return &k, nil
}

// pages walks pages until there are no more.
func pages[T any](next func() (page []T, more bool, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for more := true; more; {
			page, rest, err := next()
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, v := range page {
				if !yield(v, nil) {
					return
				}
			}
			more = rest
		}
	}
}
