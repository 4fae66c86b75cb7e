package blob

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
)

// escapeKey returns the name of an object's file, with slashes. What cannot be in a name stands there as
// "__0x2f__", as does the beginning of what would be read as that.
func escapeKey(key string) string {
	var out strings.Builder
	runes := []rune(key)
	for i, r := range runes {
		if isForbidden(runes, i) || r == '_' && escapedAtStart().MatchString(string(runes[i:])) {
			fmt.Fprintf(&out, "__%#x__", r)
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}

// isForbidden reports whether a character of a key cannot stand in a name where it is.
func isForbidden(key []rune, i int) bool {
	switch c := key[i]; {
	case c < ' ':
		return true
	case c == '/': // a name is not empty, and leads nowhere else
		return i > 1 && key[i-1] == '.' && key[i-2] == '.' || i > 0 && key[i-1] == '/' || i == len(key)-1
	case os.PathSeparator != '/':
		return c == os.PathSeparator || strings.ContainsRune(`<>:"|?*`, c)
	}
	return false
}

var (
	escaped        = lazyregexp.New(`__0x[0-9a-fA-F]+__`)
	escapedAtStart = lazyregexp.New(`^__0x[0-9a-fA-F]+__`)
)

// unescapeName returns the key behind a name.
func unescapeName(name string) string {
	return escaped().ReplaceAllStringFunc(name, func(s string) string {
		r, err := strconv.ParseInt(strings.Trim(s, "_")[len("0x"):], 16, 32)
		if err != nil {
			return s
		}
		return string(rune(r))
	})
}
