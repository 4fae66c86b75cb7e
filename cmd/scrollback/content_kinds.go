package main

import (
	"bytes"
	"unicode/utf8"
)

// isText reports whether b is a text.
func isText(b []byte) bool { return utf8.Valid(b) && !bytes.Contains(b, []byte{0}) }

// isRaster reports whether b begins as an image that a model can be shown.
func isRaster(b []byte) bool {
	for _, head := range []string{"\x89PNG\r\n\x1a\n", "\xff\xd8\xff", "GIF87a", "GIF89a"} {
		if bytes.HasPrefix(b, []byte(head)) {
			return true
		}
	}
	return len(b) > 12 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP"
}
